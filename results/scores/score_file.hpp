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
#include "results/scores/decode.hpp"
#include "results/scores/reading.hpp"

namespace odrpo {

/// Reads a table of scores from a file's bytes, or from several texts that a tool wrote. docs/scores.md says how.
///
/// Bytes packed by gzip, zstd and zip are unpacked, and UTF-16 is converted. `how.format` says the format; otherwise the name of the file does (.csv, .tsv, .jsonl, .ndjson,
/// .json), or its first line. A row is a score, or, with several columns of scores or a list in a cell, several. Lines of CSV and TSV that start with
/// `#` above the header are comments (CsvReader). CRLF, a BOM, blank lines and any order of rows are accepted.
///
/// Ids are compared as they are written, but that 7.0 is 7 (plain_id). Whole numbers are in order of value and before other texts. Without a column
/// of prompts each response is a prompt of its own.
///
/// A score that is blank (read_cell) or one of `missing` is a missing rating. A text that is no number is an answer that cannot be read. Both are
/// counted (ScoreTable). "8/10" is 8 where all such texts have one M and no score is above it. Scores that differ by rounding alone are one
/// (rounding_of_scores). Scores are on `scale`; where that is empty, on scale_of_scores() of the file. What is doubtful about all that becomes a note
/// or a warning of the table.
///
/// Failure bad_input with one `file:line:column: error: …` for each of up to 20 mistakes, or when more than half of the rows cannot be
/// read. Mistakes of the file: another format, no header, a missing column, more than most_levels different scores, no
/// score at all, ids that spell one number differently where `ids` is unset. Mistakes of a row: a wrong number of fields, an empty id, a cell given
/// twice. Mistakes of a score: infinite or off the scale (once for each value), a decimal comma beside commas, a thousands separator. Mistakes of a gold
/// score: no number, or not the same in all rows of a response.
///
/// Takes 13 bytes a row while it reads, 18 while it sorts, and the ids once each.
ScoreTable parse_scores(std::string_view bytes, const std::string& file, const ScoreReading& how = {});
ScoreTable parse_scores(std::vector<NamedText> texts, const std::string& file, const ScoreReading& how);

// Writes a table of scores as CSV, TSV or JSON lines, such as parse_scores() reads.

/// The format by the end of a file's name in whatever case: .tsv; .jsonl, .ndjson and .json; .csv. Nothing for other names.
std::optional<ScoreFormat> format_by_name(std::string_view path);

/// Refuses a text that is Parquet, larger than max_scores_bytes, or no text (check_csv_format), as bad_input with the place.
void check_score_text(const TextView& text);

/// True if the file's name says JSON, or says nothing and the text begins as JSON does.
bool is_json(std::string_view text, std::string_view file);

/// Hands the file to `out` piece by piece, one row per rating. Columns: prompt_id, response_id (from 1 in each prompt), sample_id, score
/// (one of the table's values, or "unreadable"). Also rater_id where judges have names, gold where a response has one.
void write_scores(const ScoreTable& table, ScoreFormat format, const std::function<void(std::string_view)>& out);

}  // namespace odrpo
