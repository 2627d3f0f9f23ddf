// Reads UTF-8 one character at a time, and makes text from files and users safe to print in messages and tables.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace odrpo {

/// A character: its code point, and how many bytes it has in UTF-8. `bytes` = 0 means: not valid UTF-8. By RFC 3629, overlong forms,
/// surrogates and code points beyond U+10FFFF are not valid.
struct Character {
  char32_t point = 0;
  std::size_t bytes = 0;
};

/// The first character of a text that is not empty.
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

/// True for control characters, and for characters that change the direction of writing or end a line. A terminal must not obey them.
inline bool is_control(char32_t p) {
  return p < 0x20 || (p >= 0x7F && p < 0xA0) || p == 0x061C || p == 0x200E || p == 0x200F || (p >= 0x2028 && p <= 0x202E) ||
         (p >= 0x2066 && p <= 0x206F);
}

/// True for characters without width, such as joiners and byte order marks. Two words that look alike may differ by them.
inline bool is_invisible(char32_t p) { return (p >= 0x200B && p <= 0x200D) || (p >= 0x2060 && p <= 0x2065) || p == 0xFEFF; }

/// The text, with escapes for control characters, invisible characters and bytes that are not UTF-8 (\x1b, \u202e, \xff). Control
/// characters in `keep` (tabs, line ends) stay as they are. Text that is already escaped does not change.
std::string printable_text(std::string_view text, std::string_view keep = {});

/// How many columns of a terminal a text takes, roughly: East Asian characters and emoji take two, combining characters none.
std::size_t columns_of(std::string_view text);

/// The text if it fits into `columns`; else its beginning, "…" and its end, because names often differ at their ends.
std::string shortened(std::string_view text, std::size_t columns);
/// The text, filled up with spaces to `columns`.
std::string padded(std::string_view text, std::size_t columns);

// Messages quote text of users and files; control characters in it must not reach the terminal.

/// printable_text() that keeps tabs and, unless `one_line`, line ends.
inline std::string printable(std::string_view text, bool one_line = false) { return printable_text(text, one_line ? "\t" : "\t\n"); }
/// printable() for text that must stay in one line: it escapes line ends too.
inline std::string printable_line(std::string_view text) { return printable(text, true); }

}  // namespace odrpo
