// Escapes and cuts text for HTML, hashes it for a Content-Security-Policy, and writes lists.
#include "results/page/html_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "kernels/shared/utf8.hpp"
#include "results/store/digest.hpp"

namespace odrpo::page {
namespace {

std::string bytes_of_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    int byte = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

}  // namespace

std::string cut_text(std::string_view text, std::size_t characters) {
  std::size_t at = 0;
  for (std::size_t n = 0; at < text.size(); ++n) {
    if (n == characters) return std::string(text.substr(0, at)) + "…";
    at += std::max<std::size_t>(first_character(text.substr(at)).bytes, 1);
  }
  return std::string(text);
}

std::string policy_hash(std::string_view text) { return "sha256-" + base64(bytes_of_hex(sha256_hex(text))); }

void append_list(std::string& out, const std::vector<std::string>& items, std::size_t bytes) {
  if (items.empty()) return;
  const std::size_t limit = out.size() + bytes;
  out += "<ul>\n";
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (out.size() + items[i].size() > limit) {
      out += fmt::format("<li class=\"cut\">and {} more, which this page has no room for</li>\n", items.size() - i);
      break;
    }
    out += fmt::format("<li>{}</li>\n", items[i]);
  }
  out += "</ul>\n";
}

}  // namespace odrpo::page

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
