// Formats numbers in their shortest exact form and reads them back, splits lists, matches globs, and quotes user text in messages.
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
/// An integer with commas between thousands ("1,000,000"); from 10^15 on three digits and an exponent ("1.2e+19").
std::string count_text(double value);
/// A number with fixed decimals; "n/a" for NaN. A number that rounds to zero gets no sign.
std::string fixed_text(double value, int decimals);
/// An interval with fixed decimals: "[0.1, 0.2]"; "[n/a]" if `lo` is NaN.
std::string interval_text(double lo, double hi, int decimals);
/// `text` is a formatted `value`; returns it with '+' before it if the value is above zero and is not rounded to zero in the text.
std::string with_sign(double value, const std::string& text);
/// A number of runs: "1 run", "8 runs".
std::string runs_text(std::size_t n);
/// A number of things, with a plural "s": "1 seed", "8 seeds".
template <class Number>
  requires std::is_arithmetic_v<Number>
std::string counted(Number n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}
/// A time in the unit that suits it: "85 ms", "12 s", "3.4 min", "7.1 h".
std::string seconds_text(double seconds);
/// A size in the unit that suits it: "512 B", "3.1 MiB", "2 GiB".
std::string bytes_text(double bytes);

/// Parses the whole text as a number, as std::from_chars does: no blanks, no "+"; a double may be inf or nan. nullopt for any other text
/// and for numbers beyond the type's range.
template <class T>
std::optional<T> number_from(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}
/// number_from() for numbers in least..most; nullopt for other numbers too.
template <class T>
std::optional<T> number_from(std::string_view text, T least, T most) {
  const auto value = number_from<T>(text);
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

/// A view of the text without the characters of `blanks` at both ends.
std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\n");

/// The parts of a text between separators, untrimmed and empty ones included. An empty text has one empty part.
std::vector<std::string> split(std::string_view text, char separator);
/// The lines of a text: as split(), but a line end at the end of the text begins no further line.
std::vector<std::string> lines_of(std::string_view text, char end = '\n');

/// User text for a message: printable_text(), cut after `limit` code points.
std::string shown(std::string_view text, std::size_t limit = 60);

/// A string as TOML source: in quotes, with escapes.
std::string quoted_text(std::string_view text);

/// Byte offset of the first byte that is not part of valid UTF-8; npos if there is none.
std::size_t first_bad_utf8(std::string_view text);
/// Number of code points in (valid) UTF-8 text.
std::size_t code_points(std::string_view text);

/// True if the glob matches the whole text. '*' matches any characters, '/' too; '?' matches one; [abc], [a-z], [!a] one of a set. A
/// character is a byte, and a backslash matches itself. Time grows at most as the product of both lengths.
bool glob_match(std::string_view glob, std::string_view text);
/// True if the glob has a '[' without its ']'. Such a '[' matches itself.
bool has_open_bracket(std::string_view glob);

/// True for a text that a suite or a variant may have as its name: ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$
bool is_name(std::string_view text);

/// True if `a` sorts before `b` when digits in sequence count as one number: "2.csv" before "10.csv".
bool numbers_before(const std::string& a, const std::string& b);

}  // namespace odrpo
