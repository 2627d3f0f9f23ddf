// Builds the table of a result file that the flags --rows, --columns, --value, … choose; for table, plot and report.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "app/command.hpp"
#include "results/store/store.hpp"
#include "results/table/table.hpp"
#include "results/table/table_spec.hpp"

namespace odrpo::app {

/// Splits the lists of --value at their commas. Failure `usage` for an empty word, as in "a,,b".
std::vector<std::string> value_names(const std::vector<std::string>& lists);

/// Reads from the result file, or from all of several (joined_files()), the columns that the chosen table needs. Also reads those of the table values `values`, and those of
/// `if_there` that the file has. Fails as read_results() does; `usage` for a flag that does not fit the file; `bad_input` where the suite's
/// own table is invalid.
ResultFile read_table_file(const TableQuery& q, const std::vector<std::string>& values = {},
                           const std::vector<std::string>& if_there = {});

/// The table that the flags choose: the suite's own table, changed by each flag. Fails as read_table_file() does.
TableModel query_table(const ResultFile& file, const TableQuery& q);

/// The chosen table with a recorded curve in its cells. Its columns are at most `most_steps` recorded steps. Empty `curve` = the curve that
/// the table's first value summarises, else quality. `gain` is computed from quality, and `file` must have the columns curve_columns().
/// Fails as read_curve() and curve_table() do.
TableModel query_curve(const ResultFile& file, const TableQuery& q, const std::string& curve, std::size_t most_steps);
inline constexpr std::size_t every_step = ~std::size_t{0};
/// Prints the commands that show more of result files than their table to stderr: one line, or a line each where they are long.
void print_next_steps(const std::vector<std::string>& paths);

/// The columns that read_table_file() must read in addition, so that query_curve() can show this curve.
std::vector<std::string> curve_columns(const std::string& curve);
inline constexpr const char* gain_curve = "gain";

// Computes the table values `win-rate-over-ESTIMATOR`: the win rate between the final policies of two runs, from what a file stores of
// both.

/// Names of the columns that a table needs from the file: table_columns() without the computed win rates. Failure `usage` if the file lacks one.
std::vector<std::string> stored_columns(const ResultFile& head, const TableSpec& spec);

/// Adds a column for each value `win-rate-over-ESTIMATOR`, and ignores other values. `file` holds all runs of the file at `path`. A run
/// that did not fail gets the length-controlled win rate, 0..1, of its evaluated responses against its opponent's. Its opponent is
/// ESTIMATOR's run of the same env, rater, policy, votes, seed and axes; axes that no run of ESTIMATOR has are ignored. The win rate is
/// expected over the error of a pairwise judge of default settings (expected_win_rate(), envs/toy_lm/held_out.hpp). It is 0.5 against
/// itself, NaN where the opponent is missing, failed or has other prompts. Fails as read_evaluated() does; `usage` for an estimator that no
/// run has. With `lenient`, such an estimator gets NaN in all runs instead.
void add_win_rates(ResultFile& file, const std::string& path, const std::vector<std::string>& values, bool lenient,
                   const ReadLimits& limits);

}  // namespace odrpo::app
