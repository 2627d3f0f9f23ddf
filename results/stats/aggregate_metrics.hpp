// Computes aggregates of runs over tasks as rliable defines them. Pure functions of a ragged matrix tasks x runs; undefined = NaN, never 0.
// Source: Agarwal et al. 2021, "Deep Reinforcement Learning at the Edge of the Statistical Precipice"; rliable 1.2.0, metrics.py.
#pragma once
#include <cstdint>
#include <vector>

#include "results/stats/statistics.hpp"

namespace odrpo {

/// The scores of one algorithm: scores[t][i] is the score of run i of task t, in any unit. Tasks may have different numbers of runs;
/// rliable's runs x tasks matrix is the case of equal numbers. Every function below returns NaN if there is no task, or if a task has no
/// run.
using TaskScores = std::vector<std::vector<double>>;

/// Mean over tasks of the mean over runs.
double aggregate_mean(const TaskScores& scores);

/// Median over tasks of the mean over runs. With one task this is the mean of its runs; median_of_runs is their median.
double aggregate_median(const TaskScores& scores);

/// Median of all runs of all tasks.
double median_of_runs(const TaskScores& scores);

/// Interquartile mean: the mean of all runs of all tasks without the floor(n / 4) lowest and highest (scipy's trim_mean(0.25)).
double interquartile_mean(const TaskScores& scores);

/// How far runs stay below gamma, a score that counts as good enough: gamma - mean over all runs of min(score, gamma). In the scores' unit.
double optimality_gap(const TaskScores& scores, double gamma);

/// Probability that a run of x scores higher than a run of y: mean over tasks of P(X > Y) + P(X = Y) / 2, with X and Y independent. In one
/// task this is Mann-Whitney's U divided by the number of pairs. NaN if x and y have different numbers of tasks.
double probability_of_improvement(const TaskScores& x, const TaskScores& y);

/// For each score of x, the share of y's scores that are lower; ties count one half. Their mean is probability_of_improvement({x}, {y}).
std::vector<double> win_shares(const std::vector<double>& x, std::vector<double> y);

/// One point of a performance profile: the share of all runs of all tasks with a score above tau (rliable's run-score distribution).
double run_score_distribution(const TaskScores& scores, double tau);

/// One point of a performance profile: the share of tasks whose mean over runs is above tau (rliable's average-score distribution).
double average_score_distribution(const TaskScores& scores, double tau);

// Scores with the unit of each run. Units are what varies independently, usually seeds; a unit may have a run in several tasks.

/// Scores and the unit of each run. Crossed: some unit has runs in two tasks, and all units form one stratum. Nested: no unit has runs in
/// two tasks, and each task is a stratum of its own units.
struct UnitScores {
  TaskScores scores;                             ///< scores[t][i]: run i of task t
  std::vector<std::vector<std::uint32_t>> item;  ///< item[t][i]: the unit of run i of task t, numbered in its stratum; ascends in each task
  std::vector<std::uint32_t> sizes;              ///< number of units in each stratum
  bool crossed() const { return sizes.size() < scores.size(); }
};

/// Builds UnitScores. units[t][i] names the unit of run scores[t][i] by any number; the numbers ascend in each task.
UnitScores by_unit(TaskScores scores, const std::vector<std::vector<std::uint32_t>>& units);
/// Builds UnitScores in which every run is a unit of its own.
UnitScores units_apart(TaskScores scores);

/// The mean over tasks of the mean over runs, with its t interval over units. For nested units it is stratified_mean(). Let there be n
/// crossed units and T tasks, of which task t has n(t) runs. A unit then has the value mean + n sum over its runs of (score - mean of the
/// task) / (T n(t)). If no run is missing, this is the unit's mean over tasks.
StratifiedMean unit_mean(const UnitScores& of, double level = 0.95);

/// The standard deviation within tasks, pooled: sqrt(sum_t S(t, t) / sum_t (n(t) - 1)). Task t has n(t) runs. S(t, u) sums, over units with
/// runs in tasks t and u, the product of their deviations from the two means. `freedom` is Satterthwaite's for normal scores: (sum_t S(t,
/// t))^2 / sum_tu (S(t, u)^2 / sqrt((n(t) - 1) (n(u) - 1))). It is runs - tasks if tasks are independent and vary alike, and units - 1 if
/// tasks differ by a constant.
struct PooledSd {
  double sd, freedom;
};
PooledSd pooled_sd(const UnitScores& of);

}  // namespace odrpo
