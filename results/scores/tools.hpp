// Reads files that evaluation tools and trainers write, as rows of scores (docs/scores.md has the table of their fields).
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/scores/decode.hpp"
#include "results/scores/reading.hpp"

namespace odrpo {

/// The tool that wrote a text, by its first object; nothing for other text.
std::optional<ScoreFormat> tool_of(std::string_view text);

/// One score of a tool's file. Empty where the file says nothing.
struct ToolRow {
  std::string prompt, response, judge, sample, score;
  long line = 1;
};

/// What a tool's files hold.
struct ToolRows {
  std::vector<ToolRow> rows;
  std::vector<std::string> notes;  ///< what was left out, a sentence each
};

/// The rows of the texts, which are one run of the tool each, in the order of the texts. `how.columns.score` names the judges, metrics or keys that are read ("a,b" or
/// "a*"); as it is by default: all of them. Failure bad_input with file:line where a text is not of the format, or has no score.
ToolRows read_tool(ScoreFormat format, std::span<const TextView> texts, const ScoreReading& how);

/// Rows of a tool as a source for the table (CsvScores, JsonScores).
class ListedScores {
 public:
  explicit ListedScores(std::vector<ToolRow> rows);
  bool has(std::size_t field) const { return has_[field]; }
  const Quotient& rater_quotient() const { return quotient_; }
  long first_line() const { return 1; }
  char separator() const { return 0; }
  std::vector<std::string> notes() const { return {}; }
  bool next(ScoreRow& row, CsvErrors& errors);

 private:
  std::vector<ToolRow> rows_;
  std::array<bool, score_fields> has_{};
  std::size_t at_ = 0;
  Quotient quotient_;
};

}  // namespace odrpo
