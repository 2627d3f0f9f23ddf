// Reads and writes repeated scores of judges: the table of a CSV, TSV or JSON lines file, and its scale.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/shared/score_table.hpp"
#include "results/scores/csv.hpp"
#include "results/scores/rows.hpp"

namespace odrpo {

// The scale of a file of scores: which number is which level.

inline constexpr int most_levels = 100;  ///< of a scale

/// The values that scores may have, increasing; empty = those of the file.
struct ScoreScale {
  std::vector<double> values;
};

/// 1, 2, …, `levels`.
ScoreScale scale_of_levels(int levels);

/// The scale that a text states: "0..10" (step 1) or "0..5 by 0.5". Nothing unless it has 2..most_levels values.
std::optional<ScoreScale> parse_scale(std::string_view text);

/// The scale of the scores that a file has (`found`: different, increasing). Whole numbers from 1: 1..the largest. Otherwise the grid from
/// the least to the greatest by the largest step that meets all. `found` itself where no such grid has at most most_levels values.
std::vector<double> scale_of_scores(const std::vector<double>& found);

/// "1..6", "0..10 by 0.5", or the values themselves: "0, 0.3, 7".
std::string scale_text(const std::vector<double>& values);

inline constexpr std::size_t max_scores_bytes = std::size_t{1} << 30;  ///< largest file, bytes

/// Reads a row for each score: columns in any order, further columns ignored. The name of the file chooses the format: .csv, .tsv, .jsonl
/// or .ndjson (an object a line, its keys are the columns); without one of these the first line does. Lines of CSV and TSV that start with
/// `#` are comments. CRLF, a BOM, blank lines and any order of rows are accepted. Ids are texts; whole numbers are in order of value and
/// before other texts.
///
/// A blank score is a missing rating. A text that is no number is an answer that cannot be read. Both are counted (ScoreTable). Scores are
/// on `scale`; where that is empty, on scale_of_scores() of the file.
///
/// Failure bad_input with one `file:line:column: error: …` for each of up to 20 mistakes, or when more than half of the rows cannot be
/// read. Mistakes of the file: another format (UTF-16, gzip, zip), no header, a missing column, more than most_levels different scores, no
/// score at all. Mistakes of a row: a wrong number of fields, an empty id, a cell given twice. Mistakes of a score: infinite, NaN or off
/// the scale (once for each value), a decimal comma, a thousands separator. Mistakes of a gold score: no number, or not the same in all
/// rows of a response.
///
/// Takes 13 bytes a row while it reads, 18 while it sorts, and the ids once each.
ScoreTable parse_scores(std::string_view text, const std::string& file, const ScoreColumns& columns = {}, const ScoreScale& scale = {});

// Writes a table of scores as CSV, TSV or JSON lines, such as parse_scores() reads.

enum class ScoreFormat { csv, tsv, json_lines };

/// The format by the end of a file's name: .tsv, .jsonl and .ndjson; CSV otherwise.
ScoreFormat score_format(std::string_view path);

/// Hands the file to `out` piece by piece, one row per rating. Columns: prompt_id, response_id (from 1 in each prompt), sample_id, score
/// (one of the table's values, or "unreadable"). Also rater_id where judges have names, gold where a response has one. `comment`: a line of
/// CSV and TSV behind `#`; JSON lines have none.
void write_scores(const ScoreTable& table, ScoreFormat format, std::string_view comment, const std::function<void(std::string_view)>& out);

}  // namespace odrpo
