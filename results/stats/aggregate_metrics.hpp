// Aggregates of runs over tasks, as rliable defines them: pure functions of a ragged matrix tasks x runs. Undefined = NaN, never 0.
// Source: Agarwal et al. 2021, "Deep Reinforcement Learning at the Edge of the Statistical Precipice"; rliable 1.2.0, metrics.py.
#pragma once
#include <vector>

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

/// Interquartile mean: the mean of all runs of all tasks without the floor(n / 4) lowest and the floor(n / 4) highest (scipy's
/// trim_mean(0.25)).
double interquartile_mean(const TaskScores& scores);

/// gamma - mean over all runs of min(score, gamma): how far runs stay below gamma, which counts as good enough. In the scores' unit.
double optimality_gap(const TaskScores& scores, double gamma);

/// Mean over tasks of P(X > Y) + P(X = Y) / 2 for independent runs X of x and Y of y (Mann-Whitney's U over the number of pairs). NaN
/// where x and y have different numbers of tasks.
double probability_of_improvement(const TaskScores& x, const TaskScores& y);

/// Of each score of x the share of y that it is above, ties half. Their mean is probability_of_improvement({x}, {y}).
std::vector<double> win_shares(const std::vector<double>& x, std::vector<double> y);

/// Performance profile at tau. Run-score distribution: share of all runs of all tasks with a score above tau.
double run_score_distribution(const TaskScores& scores, double tau);

/// Performance profile at tau. Average-score distribution: share of tasks whose mean over runs is above tau.
double average_score_distribution(const TaskScores& scores, double tau);

}  // namespace odrpo
