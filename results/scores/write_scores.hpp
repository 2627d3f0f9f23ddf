// Writes a table of scores as CSV, TSV or JSON lines, such as parse_scores() reads.
#pragma once
#include <functional>
#include <string_view>

#include "kernels/shared/score_table.hpp"

namespace odrpo {

enum class ScoreFormat { csv, tsv, json_lines };

/// By the end of a file's name: .tsv, .jsonl and .ndjson; CSV otherwise.
ScoreFormat score_format(std::string_view path);

/// Hands the file to `out` piece by piece. A row for each rating, with prompt_id, response_id (from 1 in each prompt), sample_id, rater_id
/// where judges have names, score (one of the table's values; "unreadable" when it could not be read), and gold where a response has one.
/// `comment`: a line of CSV and TSV behind `#`; JSON lines have none.
void write_scores(const ScoreTable& table, ScoreFormat format, std::string_view comment, const std::function<void(std::string_view)>& out);

}  // namespace odrpo
