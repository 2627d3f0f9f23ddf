// Failures on stderr and the fate of stdout.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace odrpo {

/// Prints a failure's message on stderr: with "error: " before it, or as it is when it already names its place ("file:line:column: error:
/// …").
void print_error(std::string_view message);

/// Prints one line on stderr, whatever it quotes. Whether it arrives changes nothing.
void print_note(std::string_view text);

/// Columns of the terminal that stdout is; 100 where it is none.
std::size_t stdout_width();

/// Writes data to stdout. Errors are told by flush_stdout.
void put(std::string_view text);

/// Empties stdout. Failure io when what was written did not arrive (full disk, closed descriptor); a reader that has left is no failure.
void flush_stdout();

}  // namespace odrpo
