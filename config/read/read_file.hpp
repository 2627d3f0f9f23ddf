// Reads a suite file, or a file that a suite names: checks what the path is, how large, and whether it is text.
#pragma once
#include <string>
#include <vector>

#include "results/scores/decode.hpp"

namespace odrpo {

/// Largest suite file, bytes.
inline constexpr std::size_t max_suite_bytes = std::size_t{1} << 20;

/// Reads the whole file. Failure `io` if it is missing or unreadable. Failure `suite` if it is no regular file, a result file, larger than
/// max_suite_bytes, empty, or not UTF-8 (with line and column of the first bad byte).
std::string read_suite_file(const std::string& path);

/// Reads a file of scores. From a file that is too large it reads max_scores_bytes + 1 bytes, so that parse_scores() refuses them
/// (results/scores/score_file.hpp). Failure `io` if it is missing or unreadable; `bad_input` if it is not a regular file.
std::string read_scores_file(const std::string& path);
/// Reads a file of scores, or all files of a folder that may hold scores, sorted by name ("2.jsonl" before "10.jsonl"). Returns for each its
/// name in messages and its text. Failure `bad_input` if a folder has none.
std::vector<NamedText> read_score_files(const std::string& path);

}  // namespace odrpo
