// Rows of a file of scores whose columns commas or tabs separate.
#pragma once
#include <array>
#include <vector>

#include "results/scores/row.hpp"

namespace odrpo {

class CsvScores {
 public:
  /// Reads the header. Adds to `errors` what keeps the text from being a table of scores.
  CsvScores(std::string_view text, char separator, const ScoreColumns& columns, CsvErrors& errors);

  /// Has the file the column of this field?
  bool has(std::size_t field) const { return place_[field] != none; }
  const Quotient& rater_quotient() const { return quotient_; }
  long first_line() const { return header_line_; }
  /// Comments below the header that look like rows, so far.
  long row_comments() const { return reader_.row_comments() - comments_above_; }

  /// The next row; false at the end. A row that cannot be used is told in `errors`.
  bool next(ScoreRow& row, CsvErrors& errors);

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  void find_columns(const ScoreColumns& columns, CsvErrors& errors);
  CsvReader reader_;
  std::vector<CsvField> fields_;
  std::array<std::size_t, score_fields> place_;
  Quotient quotient_;
  std::size_t columns_ = 0;
  long header_line_ = 1, comments_above_ = 0;
};

}  // namespace odrpo
