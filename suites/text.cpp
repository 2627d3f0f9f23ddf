// Numbers to text, text to something printable, UTF-8.
#include "suites/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace odrpo {

std::string number_text(double value) {
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, end.ptr);
}

std::string count_text(double value) {
  if (!(value < 1e15)) return fmt::format("{:.3g}", value);
  std::string digits = fmt::format("{:.0f}", value);
  for (std::size_t i = digits.size(); i > 3;) {
    i -= 3;
    digits.insert(i, 1, ',');
  }
  return digits;
}

std::string seconds_text(double s) {
  if (s < 0.0995) return fmt::format("{:.2g} ms", s * 1e3);
  if (s < 99.5) return fmt::format("{:.2g} s", s);
  if (s < 5970) return fmt::format("{:.2g} min", s / 60);
  return fmt::format("{:.3g} h", s / 3600);
}

std::string bytes_text(double b) {
  const char* unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  int i = 0;
  while (i < 5 && b >= 1000) b /= 1024, ++i;
  return fmt::format("{:.3g} {}", b, unit[i]);
}

std::size_t first_bad_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = first_character(text.substr(i)).bytes;
    if (length == 0) return i;
    i += length;
  }
  return std::string_view::npos;
}

std::size_t code_points(std::string_view text) {
  std::size_t n = 0;
  for (const char c : text) n += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return n;
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
    const Character c = first_character(text.substr(i));
    const auto in = [&](const Range& r) { return r.first <= c.point && c.point <= r.last; };
    if (std::any_of(std::begin(two), std::end(two), in)) columns += 2;
    else if (std::none_of(std::begin(none), std::end(none), in)) ++columns;
    i += std::max<std::size_t>(c.bytes, 1);
  }
  return columns;
}

std::string quoted_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else quoted += c;
  }
  quoted += '"';
  return quoted;
}

std::string shown(std::string_view text, std::size_t limit) {
  std::string out;
  std::size_t points = 0;
  for (std::size_t i = 0; i < text.size(); ++points) {
    if (points == limit) return out + "...";
    const Character c = first_character(text.substr(i));
    if (c.bytes == 0 || is_control(c.point)) out += escaped(c, text[i]);
    else out.append(text, i, c.bytes);
    i += std::max<std::size_t>(c.bytes, 1);
  }
  return out;
}

std::string escaped(const Character& c, char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 || c.bytes == 0 ? fmt::format("\\x{:02x}", byte) : fmt::format("\\u{:04x}", static_cast<unsigned>(c.point));
}

bool is_name(std::string_view text) {
  const auto word = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (text.empty() || text.size() > 64 || !word(text[0])) return false;
  for (const char c : text)
    if (!word(c) && c != '.' && c != '_' && c != '-') return false;
  return true;
}

}  // namespace odrpo
