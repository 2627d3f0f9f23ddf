// One row of a file of scores as text, whatever the file's format.
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "results/csv.hpp"
#include "results/score_columns.hpp"

namespace odrpo {

/// "sample_id / 2": a column and what its whole numbers are divided by; divisor 0 where the text is no quotient.
struct Quotient {
  std::string column;
  long long divisor = 0;
};
Quotient parse_quotient(std::string_view text);

/// The fields of one row. Those of columns that the file lacks stay empty.
struct ScoreRow {
  std::array<CsvField, score_fields> field;
  long line = 1;
  std::string text(std::size_t f) const { return csv_text(field[f]); }
};

}  // namespace odrpo
