// Messages quote what users and files say; a terminal must not obey it.
#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>

namespace odrpo::app {

/// The text with control characters escaped (\x1b, \u009b), but for line ends and tabs.
inline std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0u;
    if (c == 0xC2 && next >= 0x80 && next < 0xA0) out += fmt::format("\\u{:04x}", next), ++i;
    else if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F) out += fmt::format("\\x{:02x}", c);
    else out += text[i];
  }
  return out;
}

}  // namespace odrpo::app
