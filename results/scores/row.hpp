// One row of a file of scores as text, whatever the file's format.
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "results/scores/csv.hpp"
#include "results/scores/columns.hpp"

namespace odrpo {

/// "sample_id / 2", "(sample_id - 1) / 2" or "sample_id % 2": a column whose whole numbers, moved by `shift`, are divided by `divisor`: the
/// whole part below, or the remainder. Divisor 0 where the text is no quotient.
struct Quotient {
  std::string column;
  long long divisor = 0, shift = 0;
  bool remainder = false;
  /// -3 / 2 = -2, -3 % 2 = 1: neighbours stay together, and a pattern of columns goes on below 0.
  long long of(long long value) const;
};
Quotient parse_quotient(std::string_view text);

/// The fields of one row. Those of columns that the file lacks stay empty.
struct ScoreRow {
  std::array<CsvField, score_fields> field;
  long line = 1;
  std::string text(std::size_t f) const { return csv_text(field[f]); }
};

}  // namespace odrpo
