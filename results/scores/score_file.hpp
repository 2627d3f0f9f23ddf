// Repeated scores of real judges: the table of a CSV, TSV or JSON lines file.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/shared/score_table.hpp"
#include "results/scores/csv.hpp"
#include "results/scores/row.hpp"
#include "results/scores/scale.hpp"

namespace odrpo {

inline constexpr std::size_t max_scores_bytes = std::size_t{1} << 30;  ///< largest file, bytes

/// Reads a row for each score: columns in any order, further columns ignored. The name of the file chooses the format: .csv, .tsv, .jsonl
/// or .ndjson (an object a line, its keys are the columns); without one of these the first line does. Lines of CSV and TSV that start with
/// `#` are comments; CRLF, a BOM, blank lines and any order of rows are accepted. Ids are texts; whole numbers are in order of value and
/// before other texts.
///
/// A blank score is a missing rating. A text that is no number is an answer that cannot be read. Both are counted (ScoreTable). Scores are
/// on `scale`, or, where that is empty, on scale_of_scores() of the file.
///
/// Throws Failure(Exit::bad_input) with one `file:line:column: error: …` for each of up to 20 mistakes: another format (UTF-16, gzip, zip),
/// no header, a missing column, a wrong number of fields, an empty id, a score that is infinite, NaN or off the scale (once for each
/// value), a decimal comma, thousands separators, more than most_levels different scores, a cell given twice, a gold score that is no
/// number or not the same in all rows of a response, no score at all; or when more than half of the rows cannot be read.
///
/// Takes 13 bytes a row while it reads, 18 while it sorts, and the ids once each.
ScoreTable parse_scores(std::string_view text, const std::string& file, const ScoreColumns& columns = {}, const ScoreScale& scale = {});

}  // namespace odrpo
