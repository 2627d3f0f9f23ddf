// Runs of several cells, paired by unit: what a paired test or bootstrap works on.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "results/bootstrap.hpp"
#include "results/run_table.hpp"

namespace odrpo {

/// The runs of some cells in the tasks that all of them share, by units that all of them have.
/// Crossed: units have runs in several tasks. One stratum, the units that have a run in every task, each with all its tasks.
/// Nested: no unit has runs in two tasks. Each task is a stratum of its own units.
struct PairedRuns {
  std::vector<TaskScores> scores;    ///< scores[c][t][i]: cell c, task t, unit i of the task's stratum
  std::vector<std::uint32_t> sizes;  ///< units of each stratum: one stratum, or one per task
  bool crossed = true;
  int left_out = 0;  ///< units that have a run in some of these cells and tasks, but not in all that are needed
};
PairedRuns pair_runs(const RunTable& table, std::span<const std::size_t> cells);

/// Of each stratum and unit: the mean over the unit's tasks of sum_c sign[c] scores[c]. A bootstrap of these resamples units, and a unit
/// serves all cells.
TaskScores paired_differences(const PairedRuns& runs, std::span<const double> signs);

}  // namespace odrpo
