// Reading a suite file, or a file that a suite names: what kind of thing the path is, how large, and whether it is text.
#pragma once
#include <string>

namespace odrpo {

/// Largest suite file, bytes.
inline constexpr std::size_t max_suite_bytes = std::size_t{1} << 20;

/// The whole file. Failure `io` when it is missing or unreadable; Failure `suite` for what is no regular file, for a result file, and when
/// it is larger than max_suite_bytes, empty, or not UTF-8 (with line and column of the first bad byte).
std::string read_suite_file(const std::string& path);

/// The file of scores: whole, or its first max_scores_bytes + 1 bytes, which parse_scores() refuses (results/scores/score_file.hpp). Failure `io`
/// when it is missing or unreadable; Failure `bad_input` when it is not a regular file.
std::string read_scores_file(const std::string& path);

}  // namespace odrpo
