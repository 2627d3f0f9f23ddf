// Messages quote what users and files say; a terminal must not obey it.
#pragma once
#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace odrpo::app {

/// A character at the front of a text: its code point and its bytes; no bytes when it is not UTF-8.
struct Character {
  char32_t point = 0;
  std::size_t bytes = 0;
};
inline Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t bytes = byte(0) < 0x80 ? 1 : byte(0) < 0xC2 ? 0 : byte(0) < 0xE0 ? 2 : byte(0) < 0xF0 ? 3 : byte(0) < 0xF5 ? 4 : 0;
  if (bytes == 0 || bytes > text.size()) return {};
  char32_t point = bytes == 1 ? byte(0) : byte(0) & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    point = point << 6 | (byte(i) & 0x3Fu);
  }
  const bool in_range =
      bytes < 3 || (bytes == 3 ? point >= 0x800 && (point < 0xD800 || point > 0xDFFF) : point >= 0x10000 && point <= 0x10FFFF);
  return in_range ? Character{point, bytes} : Character{};
}

/// Controls, also those that turn the direction of writing or end a line.
inline bool is_control(char32_t p) {
  return p < 0x20 || (p >= 0x7F && p < 0xA0) || p == 0x061C || p == 0x200E || p == 0x200F || (p >= 0x2028 && p <= 0x202E) ||
         (p >= 0x2066 && p <= 0x2069);
}

/// The text with controls and bytes that are no UTF-8 escaped (\x1b, \u009b, \u202e, \xff), but for tabs and, in many lines, line ends.
inline std::string printable(std::string_view text, bool one_line = false) {
  std::string out;
  while (!text.empty()) {
    const Character c = first_character(text);
    if (c.bytes == 0) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    else if (c.point == '\t' || (c.point == '\n' && !one_line) || !is_control(c.point)) out += text.substr(0, c.bytes);
    else if (c.point < 0x80) out += fmt::format("\\x{:02x}", static_cast<unsigned>(c.point));
    else out += fmt::format("\\u{:04x}", static_cast<unsigned>(c.point));
    text.remove_prefix(c.bytes == 0 ? 1 : c.bytes);
  }
  return out;
}
/// The same for what is one line, whatever it quotes.
inline std::string printable_line(std::string_view text) { return printable(text, true); }

}  // namespace odrpo::app
