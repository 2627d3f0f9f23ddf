// Any CSV file with one row per run, as the columns asked for: which cell, task and unit a run belongs to, and its value.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace odrpo {

/// Names of columns, as the header writes them.
struct RunColumns {
  std::string unit;               ///< what is independent, for instance the seed
  std::vector<std::string> cell;  ///< what is compared; a cell is a combination of their texts
  std::string value;
  std::vector<std::string> task;  ///< strata; none = one task
};

/// The runs that have a value. Texts are those of the file, with quotes taken off.
struct RunTable {
  struct Run {
    std::uint32_t cell, task, unit;  ///< indices of the lists below
    double value;
    std::uint32_t line;
  };
  std::vector<std::vector<std::string>> cells;  ///< one text per column; in the file's order
  std::vector<std::string> tasks, units;        ///< ascending (numbers by size), so that the order of rows changes nothing; task columns
                                                ///< joined by ", "; one empty name where no column is a task
  std::vector<Run> runs;                        ///< by cell, task, unit
  /// Of a result file whose cells chose (a learning rate, say) on seeds of their own: other_choices[c][t] has the values of cell c in task
  /// t at each other choice that it might have made. Else empty.
  using UnitValues = std::vector<std::pair<std::uint32_t, double>>;  ///< (unit, value)
  std::vector<std::vector<std::vector<UnitValues>>> other_choices{};
  bool flattered = false;      ///< they chose on these runs: their differences are not tested
  bool more_is_better = true;  ///< of the value: a cell beats another by it
  std::size_t blank = 0, not_a_number = 0;      ///< rows left out because the value is blank; "nan" in any letter case, or "NA"
};

/// Reads the columns from CSV text. Throws Failure(Exit::usage), one line per mistake, for columns that the header lacks (with a
/// suggestion); Failure(Exit::bad_input) with one `file:line:column: error: …` for each of up to 20 mistakes: no CSV, a column that stands
/// twice, a wrong number of fields, a value that is text or infinite, an empty unit, cell or task, a run given twice, no value at all.
RunTable parse_runs(std::string_view text, const std::string& file, const RunColumns& columns);

/// "a, b": the texts of a cell, or of several columns.
std::string joined_names(const std::vector<std::string>& names);

}  // namespace odrpo
