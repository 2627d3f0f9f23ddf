// Text helpers: numbers in their shortest exact form and read back, lists, globs, and the beginnings of user text.
#pragma once
#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "kernels/shared/utf8.hpp"

namespace odrpo {

/// The shortest decimal text that reads back as the same double ("0.03", "1e-06", "2").
std::string number_text(double value);
/// A whole number with commas between thousands ("1,000,000"); 1.2e+19 and the like beyond 10^15.
std::string count_text(double value);
/// Fixed decimals; "n/a" for NaN; a number that rounds to zero has no sign.
std::string fixed_text(double value, int decimals);
/// The same of an interval: "[0.1, 0.2]", "[n/a]" where it has no ends.
std::string interval_text(double lo, double hi, int decimals);
/// The text of a value, with '+' before it where both the value and its number in the text are above zero.
std::string with_sign(double value, const std::string& text);
/// "1 run", "8 runs".
std::string runs_text(std::size_t n);
/// The same of other words: "1 seed", "8 seeds".
template <class Number>
  requires std::is_arithmetic_v<Number>
std::string counted(Number n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}
/// A quantity with a unit of its kind: "850 ms", "12 s", "3.4 min", "7.1 h".
std::string seconds_text(double seconds);
/// "512 B", "3.1 MiB", "2.0 GiB".
std::string bytes_text(double bytes);

/// The number that the whole text is, as std::from_chars reads it: no blanks, no "+"; a double may be inf or nan. Nothing for other text
/// and beyond the type's range.
template <class T>
std::optional<T> number_from(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}
/// The same of a number in least..most; nothing for other ones.
template <class T>
std::optional<T> number_from(std::string_view text, T least, T most) {
  const auto value = number_from<T>(text);
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

/// The text without such characters at its ends; a view of it.
std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\n");

/// The parts between the separators as they stand, empty ones too; of an empty text one that is empty.
std::vector<std::string> split(std::string_view text, char separator);
/// The same, but that an end at the end of the text begins no further part: lines.
std::vector<std::string> lines_of(std::string_view text, char end = '\n');

/// User text inside a message: printable_text, cut after `limit` code points.
std::string shown(std::string_view text, std::size_t limit = 60);

/// A string as TOML writes it: in quotes, with escapes.
std::string quoted_text(std::string_view text);

/// Byte offset of the first byte that is not part of valid UTF-8, or npos.
std::size_t first_bad_utf8(std::string_view text);
/// Number of code points in (valid) UTF-8 text.
std::size_t code_points(std::string_view text);

/// Does the glob match the whole text? '*' any characters, '/' too; '?' one; [abc], [a-z], [!a] one of a set. A character is a byte, and
/// a backslash stands for itself. Time grows as the product of both lengths at most.
bool glob_match(std::string_view glob, std::string_view text);
/// Has the glob a '[' without its ']'? It then stands for itself.
bool has_open_bracket(std::string_view glob);

/// A name a suite or a variant may have: ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$
bool is_name(std::string_view text);

}  // namespace odrpo
