// Numbers to text, and what messages need to know of text.
#include "kernels/system/text.hpp"

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

std::string runs_text(std::size_t n) { return std::to_string(n) + (n == 1 ? " run" : " runs"); }

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
  std::size_t end = 0;
  for (std::size_t points = 0; end < text.size(); ++points) {
    if (points == limit) return printable_text(text.substr(0, end)) + "...";
    end += std::max<std::size_t>(first_character(text.substr(end)).bytes, 1);
  }
  return printable_text(text);
}

bool is_name(std::string_view text) {
  const auto word = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (text.empty() || text.size() > 64 || !word(text[0])) return false;
  for (const char c : text)
    if (!word(c) && c != '.' && c != '_' && c != '-') return false;
  return true;
}

}  // namespace odrpo
