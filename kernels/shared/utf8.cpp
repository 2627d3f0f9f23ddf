// Escapes characters that must not be printed, and measures the width of text on a terminal.
#include "kernels/shared/utf8.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

namespace odrpo {
namespace {

/// A number as hexadecimal text with at least `digits` digits.
std::string hex(unsigned value, int digits) {
  std::string text;
  for (; value > 0 || digits > 0; value >>= 4, --digits) text += "0123456789abcdef"[value & 15];
  return {text.rbegin(), text.rend()};
}

/// The escape (`\x1b` or `\u202e`) for a character that must not be printed, or, if c.bytes = 0, for the byte `first` that is not UTF-8.
std::string escaped(const Character& c, char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 || c.bytes == 0 ? "\\x" + hex(byte, 2) : "\\u" + hex(static_cast<unsigned>(c.point), 4);
}

}  // namespace

std::string printable_text(std::string_view text, std::string_view keep) {
  std::string out;
  while (!text.empty()) {
    const Character c = first_character(text);
    const bool kept = keep.find(text[0]) != std::string_view::npos;
    if (kept || (c.bytes > 0 && !is_control(c.point) && !is_invisible(c.point))) out += text.substr(0, std::max<std::size_t>(c.bytes, 1));
    else out += escaped(c, text[0]);
    text.remove_prefix(std::max<std::size_t>(c.bytes, 1));
  }
  return out;
}

std::size_t columns_of(std::string_view text) {
  struct Range {
    unsigned first, last;
  };
  constexpr Range none[] = {{0x300, 0x36F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}};
  constexpr Range two[] = {{0x1100, 0x115F},   {0x2E80, 0xA4CF},   {0xAC00, 0xD7A3},  {0xF900, 0xFAFF},
                           {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},  {0x1F300, 0x1F64F},
                           {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD}};
  std::size_t columns = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (text.substr(i).starts_with("\x1b[")) {  // the code of a colour ends at its first letter
      i = std::min(text.find('m', i), text.size() - 1) + 1;
      continue;
    }
    const Character c = first_character(text.substr(i));
    i += std::max<std::size_t>(c.bytes, 1);
    if (c.point < none[0].first) {
      ++columns;
      continue;
    }
    const auto in = [&](const Range& r) { return r.first <= c.point && c.point <= r.last; };
    if (std::any_of(std::begin(two), std::end(two), in)) columns += 2;
    else if (std::none_of(std::begin(none), std::end(none), in)) ++columns;
  }
  return columns;
}

std::string shortened(std::string_view text, std::size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  std::vector<std::string_view> letters;
  for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(letters.back().size()))
    letters.push_back(rest.substr(0, std::max<std::size_t>(first_character(rest).bytes, 1)));
  std::string begin, end;
  for (std::size_t i = letters.size(); i-- > 0 && columns_of(letters[i]) + columns_of(end) <= (columns - 1) / 2;) end.insert(0, letters[i]);
  for (const std::string_view letter : letters) {
    if (columns_of(begin) + columns_of(letter) + 1 + columns_of(end) > columns) break;
    begin += letter;
  }
  return begin + "…" + end;
}

std::string padded(std::string_view text, std::size_t columns) {
  const std::size_t taken = columns_of(text);
  return std::string(text) + std::string(taken < columns ? columns - taken : 0, ' ');
}

}  // namespace odrpo
