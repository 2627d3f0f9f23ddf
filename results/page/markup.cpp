// Any text inside HTML, SVG or XML.
#include "results/page/markup.hpp"

#include "kernels/shared/utf8.hpp"

namespace odrpo {

std::string markup_text(std::string_view text, std::string_view keep) {
  const std::string printable = printable_text(text, keep);
  std::string out;
  for (std::size_t i = 0; i < printable.size(); ++i) {
    const char c = printable[i];
    const std::string_view rest = std::string_view(printable).substr(i);
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '"') out += "&quot;";
    else if (c == '\'') out += "&#39;";
    else if (rest.starts_with("\xEF\xBF\xBE") || rest.starts_with("\xEF\xBF\xBF")) out += "?", i += 2;  // U+FFFE, U+FFFF
    else out += c;
  }
  return out;
}

}  // namespace odrpo
