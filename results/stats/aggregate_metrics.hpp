// Computes aggregates of runs over tasks as rliable defines them. Pure functions of a ragged matrix tasks x runs; undefined = NaN, never 0.
// Source: Agarwal et al. 2021, "Deep Reinforcement Learning at the Edge of the Statistical Precipice"; rliable 1.2.0, metrics.py.
#pragma once
#include <cstdint>
#include <vector>

#include "results/stats/statistics.hpp"

namespace odrpo {

/// The scores of one algorithm: scores[t][i] = run i of task t, in any unit. Numbers of runs may differ between tasks; rliable's matrix
/// runs x tasks is the case of equal numbers. Every function below gives NaN where there is no task, or a task without runs.
using TaskScores = std::vector<std::vector<double>>;

/// Mean over tasks of the mean over runs.
double aggregate_mean(const TaskScores& scores);

/// Median over tasks of the mean over runs. With one task this is the mean of its runs; median_of_runs is their median.
double aggregate_median(const TaskScores& scores);

/// Median of all runs of all tasks.
double median_of_runs(const TaskScores& scores);

/// Interquartile mean: the mean of all runs of all tasks without the floor(n / 4) lowest and highest (scipy's trim_mean(0.25)).
double interquartile_mean(const TaskScores& scores);

/// gamma - mean over all runs of min(score, gamma): how far runs stay below gamma, which counts as good enough. In the scores' unit.
double optimality_gap(const TaskScores& scores, double gamma);

/// Mean over tasks of P(X > Y) + P(X = Y) / 2 for independent runs X of x and Y of y. It is Mann-Whitney's U over the number of pairs. NaN
/// where x and y have different numbers of tasks.
double probability_of_improvement(const TaskScores& x, const TaskScores& y);

/// For each score of x, the share of y below it, ties half. Their mean is probability_of_improvement({x}, {y}).
std::vector<double> win_shares(const std::vector<double>& x, std::vector<double> y);

/// Performance profile at tau. Run-score distribution: share of all runs of all tasks with a score above tau.
double run_score_distribution(const TaskScores& scores, double tau);

/// Performance profile at tau. Average-score distribution: share of tasks whose mean over runs is above tau.
double average_score_distribution(const TaskScores& scores, double tau);

// Scores of tasks by unit. Units (seeds, say) are independent; a unit may have a run in several tasks.

/// Scores with their units. Crossed: a unit has runs in two tasks, and all units are one stratum. Nested: no unit has runs in two tasks,
/// and each task is a stratum of its own units.
struct UnitScores {
  TaskScores scores;                             ///< scores[t][i]: run i of task t
  std::vector<std::vector<std::uint32_t>> item;  ///< of each run, its unit's number in the stratum; ascending in each task
  std::vector<std::uint32_t> sizes;              ///< units of each stratum
  bool crossed() const { return sizes.size() < scores.size(); }
};

/// units[t][i] = the unit of run scores[t][i]: any number, ascending in each task.
UnitScores by_unit(TaskScores scores, const std::vector<std::vector<std::uint32_t>>& units);
/// Every run is a unit of its own.
UnitScores units_apart(TaskScores scores);

/// The mean over tasks of the mean over runs, with the t interval of its units. Nested: stratified_mean. A crossed unit's value is mean + n
/// sum over its runs of (score - mean of the task) / (T n(t)); n units, T tasks. Where no run is missing, it is the unit's mean over tasks.
StratifiedMean unit_mean(const UnitScores& of, double level = 0.95);

/// The standard deviation within tasks, pooled: sqrt(sum_t S(t, t) / sum_t (n(t) - 1)). S(t, u) sums over the units of both tasks the
/// product of their deviations from the tasks' means. Degrees of freedom for normal scores, after Satterthwaite:
/// (sum_t S(t, t))^2 / sum_tu S(t, u)^2 / sqrt((n(t) - 1) (n(u) - 1)). They are runs - tasks where tasks are independent and vary alike,
/// and units - 1 where tasks differ by a constant.
struct PooledSd {
  double sd, freedom;
};
PooledSd pooled_sd(const UnitScores& of);

}  // namespace odrpo
