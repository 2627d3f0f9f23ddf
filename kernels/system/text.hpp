// Text helpers: numbers in their shortest exact form, and user text made safe to print.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/shared/utf8.hpp"

namespace odrpo {

/// The shortest decimal text that reads back as the same double ("0.03", "1e-06", "2").
std::string number_text(double value);
/// A whole number with commas between thousands ("1,000,000"); 1.2e+19 and the like beyond 10^15.
std::string count_text(double value);
/// "1 run", "8 runs".
std::string runs_text(std::size_t n);
/// A quantity with a unit of its kind: "850 ms", "12 s", "3.4 min", "7.1 h".
std::string seconds_text(double seconds);
/// "512 B", "3.1 MiB", "2.0 GiB".
std::string bytes_text(double bytes);

/// User text inside a message: printable_text, cut after `limit` code points.
std::string shown(std::string_view text, std::size_t limit = 60);

/// A string as TOML writes it: in quotes, with escapes.
std::string quoted_text(std::string_view text);

/// Byte offset of the first byte that is not part of valid UTF-8, or npos.
std::size_t first_bad_utf8(std::string_view text);
/// Number of code points in (valid) UTF-8 text.
std::size_t code_points(std::string_view text);

/// A name a suite or a variant may have: ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$
bool is_name(std::string_view text);

}  // namespace odrpo
