// Scores of tasks by unit: what is independent is the unit (a seed, say), which may have a run in several tasks.
#pragma once
#include <cstdint>
#include <vector>

#include "results/stats/aggregate_metrics.hpp"
#include "results/stats/statistics.hpp"

namespace odrpo {

/// Scores with their units. Crossed: a unit has runs in two tasks, and all units are one stratum. Nested: no unit has, and each task is a
/// stratum of its own units.
struct UnitScores {
  TaskScores scores;                             ///< scores[t][i]: run i of task t
  std::vector<std::vector<std::uint32_t>> item;  ///< of each run, its unit's number in the stratum; ascending in each task
  std::vector<std::uint32_t> sizes;              ///< units of each stratum
  bool crossed() const { return sizes.size() < scores.size(); }
};

/// units[t][i] is whose run scores[t][i] is: any number, ascending in each task.
UnitScores by_unit(TaskScores scores, const std::vector<std::vector<std::uint32_t>>& units);
/// Every run is a unit of its own.
UnitScores units_apart(TaskScores scores);

/// The mean over tasks of the mean over runs, with the t interval of its units. Nested: stratified_mean. Crossed: a unit's value is
/// mean + n sum over its runs of (score - mean of the task) / (T n(t)), n units and T tasks; where no run is missing it is the unit's mean
/// over tasks.
StratifiedMean unit_mean(const UnitScores& of, double level = 0.95);

/// The standard deviation within tasks, pooled: sqrt(sum_t S(t, t) / sum_t (n(t) - 1)), S(t, u) = sum over the units of both tasks of the
/// product of their deviations from the tasks' means. Its degrees of freedom for normal scores, after Satterthwaite:
/// (sum_t S(t, t))^2 / sum_tu S(t, u)^2 / sqrt((n(t) - 1) (n(u) - 1)). They are runs - tasks where tasks are independent and vary alike,
/// and units - 1 where tasks differ by a constant.
struct PooledSd {
  double sd, freedom;
};
PooledSd pooled_sd(const UnitScores& of);

}  // namespace odrpo
