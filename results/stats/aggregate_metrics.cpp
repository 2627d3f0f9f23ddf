// Aggregates of runs over tasks, each as its definition says.
#include "results/stats/aggregate_metrics.hpp"

#include <algorithm>
#include <limits>

namespace odrpo {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

bool complete(const TaskScores& scores) {
  return !scores.empty() && std::none_of(scores.begin(), scores.end(), [](const auto& runs) { return runs.empty(); });
}

double sum(const std::vector<double>& values) {
  double total = 0;
  for (const double v : values) total += v;
  return total;
}

double mean(const std::vector<double>& values) { return sum(values) / static_cast<double>(values.size()); }

/// Resamples come in order already.
void sort(std::vector<double>& values) {
  if (!std::is_sorted(values.begin(), values.end())) std::sort(values.begin(), values.end());
}

double median(std::vector<double> values) {
  sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::vector<double> task_means(const TaskScores& scores) {
  std::vector<double> means;
  for (const auto& runs : scores) means.push_back(mean(runs));
  return means;
}

std::vector<double> all_runs(const TaskScores& scores) {
  std::vector<double> all;
  for (const auto& runs : scores) all.insert(all.end(), runs.begin(), runs.end());
  return all;
}

/// Twice the numbers of ascending y that v is above, ties half.
std::size_t halves_won(double v, const std::vector<double>& y) {
  const auto [first, last] = std::equal_range(y.begin(), y.end(), v);
  return static_cast<std::size_t>((first - y.begin()) + (last - y.begin()));
}

/// U / (pairs) of one task.
double share_of_wins(const std::vector<double>& x, std::vector<double> y) {
  sort(y);
  std::size_t halves = 0;
  for (const double v : x) halves += halves_won(v, y);
  return static_cast<double>(halves) / (2 * static_cast<double>(x.size()) * static_cast<double>(y.size()));
}

}  // namespace

double aggregate_mean(const TaskScores& scores) { return complete(scores) ? mean(task_means(scores)) : nan; }

double aggregate_median(const TaskScores& scores) { return complete(scores) ? median(task_means(scores)) : nan; }

double median_of_runs(const TaskScores& scores) { return complete(scores) ? median(all_runs(scores)) : nan; }

double interquartile_mean(const TaskScores& scores) {
  if (!complete(scores)) return nan;
  std::vector<double> all = all_runs(scores);
  sort(all);
  const auto cut = static_cast<std::ptrdiff_t>(all.size() / 4);
  return mean({all.begin() + cut, all.end() - cut});
}

double optimality_gap(const TaskScores& scores, double gamma) {
  if (!complete(scores)) return nan;
  std::vector<double> all = all_runs(scores);
  for (double& v : all) v = std::min(v, gamma);
  return gamma - mean(all);
}

double probability_of_improvement(const TaskScores& x, const TaskScores& y) {
  if (!complete(x) || !complete(y) || x.size() != y.size()) return nan;
  std::vector<double> shares;
  for (std::size_t t = 0; t < x.size(); ++t) shares.push_back(share_of_wins(x[t], y[t]));
  return mean(shares);
}

std::vector<double> win_shares(const std::vector<double>& x, std::vector<double> y) {
  sort(y);
  std::vector<double> shares;
  for (const double v : x) shares.push_back(static_cast<double>(halves_won(v, y)) / (2 * static_cast<double>(y.size())));
  return shares;
}

double run_score_distribution(const TaskScores& scores, double tau) {
  if (!complete(scores)) return nan;
  const std::vector<double> all = all_runs(scores);
  const auto above = std::count_if(all.begin(), all.end(), [&](double v) { return v > tau; });
  return static_cast<double>(above) / static_cast<double>(all.size());
}

double average_score_distribution(const TaskScores& scores, double tau) {
  if (!complete(scores)) return nan;
  const auto above = std::count_if(scores.begin(), scores.end(), [&](const auto& runs) { return mean(runs) > tau; });
  return static_cast<double>(above) / static_cast<double>(scores.size());
}

}  // namespace odrpo
