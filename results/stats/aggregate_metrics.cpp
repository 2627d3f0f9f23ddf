// Computes aggregates of runs over tasks and statistics over units, directly by their definitions.
#include "results/stats/aggregate_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "kernels/math.hpp"

namespace odrpo {
namespace {

bool complete(const TaskScores& scores) {
  return !scores.empty() && std::none_of(scores.begin(), scores.end(), [](const auto& runs) { return runs.empty(); });
}

double sum(const std::vector<double>& values) {
  double total = 0;
  for (const double v : values) total += v;
  return total;
}

double mean(const std::vector<double>& values) { return sum(values) / static_cast<double>(values.size()); }

/// Sorts the values unless they are sorted already. Scores of a resample are, so the check saves time.
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

/// Returns twice the number of values of y (ascending) below v, where a value equal to v counts as one half.
std::size_t halves_won(double v, const std::vector<double>& y) {
  const auto [first, last] = std::equal_range(y.begin(), y.end(), v);
  return static_cast<std::size_t>((first - y.begin()) + (last - y.begin()));
}

/// Mann-Whitney's U of one task, divided by the number of pairs.
double share_of_wins(const std::vector<double>& x, std::vector<double> y) {
  sort(y);
  std::size_t halves = 0;
  for (const double v : x) halves += halves_won(v, y);
  return static_cast<double>(halves) / (2 * static_cast<double>(x.size()) * static_cast<double>(y.size()));
}

}  // namespace

double aggregate_mean(const TaskScores& scores) { return complete(scores) ? mean(task_means(scores)) : undefined; }

double aggregate_median(const TaskScores& scores) { return complete(scores) ? median(task_means(scores)) : undefined; }

double median_of_runs(const TaskScores& scores) { return complete(scores) ? median(all_runs(scores)) : undefined; }

double interquartile_mean(const TaskScores& scores) {
  if (!complete(scores)) return undefined;
  std::vector<double> all = all_runs(scores);
  sort(all);
  const auto cut = static_cast<std::ptrdiff_t>(all.size() / 4);
  return mean({all.begin() + cut, all.end() - cut});
}

double optimality_gap(const TaskScores& scores, double gamma) {
  if (!complete(scores)) return undefined;
  std::vector<double> all = all_runs(scores);
  for (double& v : all) v = std::min(v, gamma);
  return gamma - mean(all);
}

double probability_of_improvement(const TaskScores& x, const TaskScores& y) {
  if (!complete(x) || !complete(y) || x.size() != y.size()) return undefined;
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
  if (!complete(scores)) return undefined;
  const std::vector<double> all = all_runs(scores);
  const auto above = std::count_if(all.begin(), all.end(), [&](double v) { return v > tau; });
  return static_cast<double>(above) / static_cast<double>(all.size());
}

double average_score_distribution(const TaskScores& scores, double tau) {
  if (!complete(scores)) return undefined;
  const auto above = std::count_if(scores.begin(), scores.end(), [&](const auto& runs) { return mean(runs) > tau; });
  return static_cast<double>(above) / static_cast<double>(scores.size());
}

namespace {

/// A row of a sparse matrix: (column, number) pairs, ascending by column.
using SparseRow = std::vector<std::pair<std::uint32_t, double>>;

double dot(const SparseRow& a, const SparseRow& b) {
  double sum = 0;
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    if (x->first == y->first) sum += x++->second * y++->second;
    else ++(x->first < y->first ? x : y);
  }
  return sum;
}

}  // namespace

UnitScores units_apart(TaskScores scores) {
  UnitScores apart{std::move(scores), {}, {}};
  for (const auto& runs : apart.scores) {
    apart.item.emplace_back(runs.size());
    std::iota(apart.item.back().begin(), apart.item.back().end(), 0u);
    apart.sizes.push_back(static_cast<std::uint32_t>(runs.size()));
  }
  return apart;
}

UnitScores by_unit(TaskScores scores, const std::vector<std::vector<std::uint32_t>>& units) {
  std::vector<std::uint32_t> all;
  for (const auto& of_task : units) all.insert(all.end(), of_task.begin(), of_task.end());
  const std::size_t runs = all.size();
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (all.size() == runs) return units_apart(std::move(scores));
  UnitScores crossed{std::move(scores), units, {static_cast<std::uint32_t>(all.size())}};
  for (auto& of_task : crossed.item)
    for (std::uint32_t& unit : of_task) unit = static_cast<std::uint32_t>(std::lower_bound(all.begin(), all.end(), unit) - all.begin());
  return crossed;
}

StratifiedMean unit_mean(const UnitScores& of, double level) {
  if (!of.crossed()) return stratified_mean(of.scores, level);
  const double mean = aggregate_mean(of.scores);
  std::vector<double> values(of.sizes[0], mean);
  for (std::size_t t = 0; t < of.scores.size(); ++t) {
    const std::vector<double>& runs = of.scores[t];
    const double task = aggregate_mean({runs});
    for (std::size_t i = 0; i < runs.size(); ++i)
      values[of.item[t][i]] += static_cast<double>(of.sizes[0]) * (runs[i] - task) / static_cast<double>(of.scores.size() * runs.size());
  }
  return stratified_mean(TaskScores(1, values), level);
}

PooledSd pooled_sd(const UnitScores& of) {
  // divides deviations by (n - 1)^(1/4): the dot product of rows t and u is then S(t, u) / ((n(t) - 1) (n(u) - 1))^(1/4)
  std::vector<SparseRow> tasks(of.scores.size()), units(of.crossed() ? of.sizes[0] : 0);
  double squares = 0, freedom = 0, products = 0;
  for (std::uint32_t t = 0; t < tasks.size(); ++t) {
    const MeanInterval m = mean_interval(of.scores[t]);
    if (m.n < 2) continue;
    squares += (m.n - 1) * m.sd * m.sd;
    freedom += m.n - 1;
    for (std::size_t i = 0; i < of.scores[t].size(); ++i) {
      const double deviation = (of.scores[t][i] - m.mean) / std::sqrt(std::sqrt(m.n - 1.0));
      tasks[t].emplace_back(of.item[t][i], deviation);
      if (of.crossed()) units[of.item[t][i]].emplace_back(t, deviation);
    }
  }
  // products of pairs of columns have the same sum of squares as products of pairs of rows, so the loop takes whichever are fewer
  const std::vector<SparseRow>& rows = of.crossed() && units.size() < tasks.size() ? units : tasks;
  for (std::size_t a = 0; a < rows.size(); ++a)
    for (std::size_t b = of.crossed() ? 0 : a; b <= a; ++b) {
      const double product = dot(rows[a], rows[b]);
      products += (a == b ? 1 : 2) * product * product;
    }
  return {std::sqrt(squares / freedom), squares * squares / products};
}

}  // namespace odrpo
