// The table values `win-rate-over-ESTIMATOR`: a win rate between the final policies of two runs, computed from what a file stores of both.
#pragma once
#include <string>
#include <vector>

#include "results/store/store.hpp"
#include "results/table/table_spec.hpp"

namespace odrpo::app {

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
