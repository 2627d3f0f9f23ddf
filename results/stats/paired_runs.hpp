// Runs of several cells, paired by unit: what a paired test or bootstrap works on.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "results/stats/aggregate_metrics.hpp"
#include "results/stats/chosen_comparison.hpp"
#include "results/stats/run_table.hpp"

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

/// Of cells that chose on seeds of their own: the leads of the same mean where cells with one sign keep their choices in all tasks and
/// cells with the other take every combination of theirs, one for each cell and task; in the direction of the table's value, first with the
/// row kept. Pairs are units that have every run of a combination. Nothing where there are more than most_combinations.
inline constexpr int most_combinations = 100'000;
std::optional<ChosenComparison> compare_choices(const RunTable& table, std::span<const std::size_t> cells, std::span<const double> signs);

}  // namespace odrpo
