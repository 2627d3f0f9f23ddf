// The ratings of a file as they are read, and the table that they make.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/shared/score_table.hpp"
#include "results/scores/csv.hpp"
#include "results/scores/ids.hpp"

namespace odrpo {

/// 13 bytes a rating, in the order of the file.
struct ScoreCells {
  static constexpr std::uint8_t blank = 255;

  IdTable prompts, responses, judges;  ///< the group of a response is its prompt
  IdTable columns;                     ///< samples; the group is the judge. Unused when `numbered`
  bool numbered = false;               ///< the file has no samples: `column` holds judges
  std::vector<std::uint32_t> response, column, line;
  std::vector<std::uint8_t> code;  ///< 0 = unreadable, `blank`, or 1 + index into values
  std::vector<double> values;      ///< different scores, as they were met or as a scale states them
  std::vector<double> gold;        ///< [responses], NaN = none; empty when the file has none
};

/// Sorts the cells into a table on the scale `values`, which holds all values of the cells; takes their memory. A cell given twice is added
/// to `errors`, and then the table is of no use.
ScoreTable make_score_table(ScoreCells cells, std::vector<double> values, CsvErrors& errors);

}  // namespace odrpo
