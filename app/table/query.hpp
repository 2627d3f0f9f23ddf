// The table of a result file that the flags --rows, --columns, --value, … choose; shared by table, plot and report.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "app/command.hpp"
#include "results/store/store.hpp"
#include "results/table/table.hpp"
#include "results/table/table_spec.hpp"

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

// The table values `win-rate-over-ESTIMATOR`: a win rate between the final policies of two runs, computed from what a file stores of both.

/// The columns that the file stores of a table's values: table_columns() without the values that add_win_rates() computes. Failure usage.
std::vector<std::string> stored_columns(const ResultFile& head, const TableSpec& spec);

/// Adds a column for each of the values that is `win-rate-over-ESTIMATOR`; the others are not looked at. `file` is all runs of the file at
/// `path`. A number is, for each run that ended well, the length-controlled win rate in 0..1 of its evaluated responses against those of
/// ESTIMATOR's run of the same env, rater, policy, votes, seed and axes, expected over the error of a pairwise judge of default settings
/// (expected_win_rate(), envs/toy_lm/held_out.hpp), without axes that no run of ESTIMATOR has; 0.5 against itself; NaN where that run is
/// missing, failed or has other prompts. Failure as read_evaluated(); usage for an estimator that no run has, unless `lenient`: then all
/// are NaN.
void add_win_rates(ResultFile& file, const std::string& path, const std::vector<std::string>& values, bool lenient,
                   const ReadLimits& limits);

}  // namespace odrpo::app
