// What the command line says when it is misunderstood, and how a failure is printed.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace odrpo::app {

/// The closest of `words` if it is close enough to be meant, else empty.
std::string closest(std::string_view word, std::span<const std::string> words);

/// Prints a failure's message on stderr: with "error: " before it, or as it is when it already names its place ("file:line:column: error:
/// …").
void print_error(std::string_view message);

/// Empties stdout. Failure io when what was written did not arrive (full disk, closed descriptor); a reader that has left is no failure.
void flush_stdout();

}  // namespace odrpo::app
