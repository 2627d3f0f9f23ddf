// Answers one line of `odrpo-bench compute`: a JSON request in, a JSON answer out (docs/compute.md).
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace odrpo::app {

inline constexpr std::size_t max_compute_line = std::size_t{16} << 20;  ///< bytes of one request

/// Answers `{"id", "fn", "args"}` with `{"id", "out"}` or `{"id", "error": {"code", "message"}}`, without a line break. Never throws: an
/// invalid request gets an error as its answer. The id of the answer is null when the request could not be read.
std::string compute_line(std::string_view request);

/// Answers every line that arrives on descriptor `input`; skips blank lines. Writes answers to `output` before it reads again, so that a
/// client can wait for each answer. Returns the exit code: 0 also when requests were refused, 5 when reading or writing failed.
int compute_stream(int input, int output);

}  // namespace odrpo::app
