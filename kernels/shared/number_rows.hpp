// Lists of lists of numbers in configs, and what a reader holds them to.
#pragma once
#include <vector>

namespace odrpo {

using NumberRows = std::vector<std::vector<double>>;

/// What the rows of a key must be; a reader reports the first row that is not.
struct RowsRule {
  int least_rows, most_rows, least_entries, most_entries;
  double least, most;        ///< of an entry
  bool same_length = false;  ///< all rows
  bool whole = false;        ///< entries are whole numbers
  bool ascending = false;    ///< entries do not decrease in their row
  bool sums_to_one = false;  ///< within 1e-6; the reader then divides by the sum
};

}  // namespace odrpo
