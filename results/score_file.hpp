// Repeated scores of a real judge: the table of a CSV file.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/score_table.hpp"
#include "results/csv.hpp"

namespace odrpo {

inline constexpr std::size_t max_scores_bytes = std::size_t{256} << 20;  ///< largest CSV, bytes
inline constexpr int max_score = 100;                                    ///< scores are whole numbers 1..max_score

/// Reads `prompt_id,response_id,sample_id,score` (columns in any order, further columns ignored); lines that start with `#` are comments,
/// CRLF, a BOM, blank lines and any order of rows are accepted. Throws Failure(Exit::bad_input) with one `file:line:column: error: …` for
/// each of up to 20 mistakes: another format (UTF-16, gzip, zip), no header, a missing column, a wrong number of fields, text or a fraction
/// for a number, a score outside 1..max_score, the first score above `levels` (0 = any), a cell given twice, responses of one prompt with
/// different numbers of samples, no rows.
ScoreTable parse_scores(std::string_view text, const std::string& file, int levels = 0);

}  // namespace odrpo
