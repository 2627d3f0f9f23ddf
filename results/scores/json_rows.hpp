// Rows of a file of scores that has a JSON object a line.
#pragma once
#include <array>
#include <string>

#include "results/scores/row.hpp"

namespace odrpo {

class JsonScores {
 public:
  /// Looks at the first object for the keys that the file has. Adds to `errors` what keeps the text from being rows of scores.
  JsonScores(std::string_view text, const ScoreColumns& columns, CsvErrors& errors);

  /// Has the file the key of this field? Every object must have it then, but for gold.
  bool has(std::size_t field) const { return has_[field]; }
  const Quotient& rater_quotient() const { return quotient_; }
  long first_line() const { return first_line_; }
  long row_comments() const { return 0; }

  /// The next row, valid until the next call; false at the end. A null is an empty field. A line that cannot be used is told in `errors`.
  bool next(ScoreRow& row, CsvErrors& errors);

 private:
  std::string_view next_line();
  bool read(std::string_view line, ScoreRow& row, CsvErrors& errors);

  std::string_view text_;
  std::size_t at_ = 0;
  long line_ = 0, first_line_ = 1;
  std::array<std::string, score_fields> key_, value_, hint_;
  std::array<bool, score_fields> has_{}, optional_{};
  bool first_ = true;
  Quotient quotient_;
};

}  // namespace odrpo
