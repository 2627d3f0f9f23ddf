// The table of a result file that the flags --rows, --columns, --value, … choose; shared by table, plot and report.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "app/command.hpp"
#include "results/table/table.hpp"

namespace odrpo::app {

/// The words of --value a,b --value c. Failure usage where one is missing.
std::vector<std::string> value_names(const std::vector<std::string>& lists);

/// Reads what the chosen table needs of its file, and the columns of `values` besides; those of `if_there` where the file has them. Failure
/// as read_results(); usage for a flag that does not fit the file; bad_input where the file's own table cannot be shown.
ResultFile read_table_file(const TableQuery& q, const std::vector<std::string>& values = {},
                           const std::vector<std::string>& if_there = {});

/// The chosen table: the suite's own with what the flags change. Failure as read_table_file().
TableModel query_table(const ResultFile& file, const TableQuery& q);

/// The chosen table with a recorded curve in its cells: at most `most_steps` steps as columns. Empty: the curve of the table's first value,
/// or quality where it has none. `gain` is made of quality and needs the columns curve_columns() in `file`. Failure as read_curve() and
/// curve_table().
TableModel query_curve(const ResultFile& file, const TableQuery& q, const std::string& curve, std::size_t most_steps);
inline constexpr std::size_t every_step = ~std::size_t{0};
/// What read_table_file() has to read besides for that curve.
std::vector<std::string> curve_columns(const std::string& curve);
inline constexpr const char* gain_curve = "gain";

}  // namespace odrpo::app
