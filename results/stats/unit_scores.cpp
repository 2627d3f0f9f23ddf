// Means and standard deviations of tasks that share their units.
#include "results/stats/unit_scores.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace odrpo {
namespace {

/// (column, number), ascending by column.
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
  // deviations over (n - 1)^(1/4), so that products of two rows are S(t, u) / ((n(t) - 1) (n(u) - 1))^(1/4)
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
  // the squares of all products of two columns have the same sum: take the shorter side
  const std::vector<SparseRow>& rows = of.crossed() && units.size() < tasks.size() ? units : tasks;
  for (std::size_t a = 0; a < rows.size(); ++a)
    for (std::size_t b = of.crossed() ? 0 : a; b <= a; ++b) {
      const double product = dot(rows[a], rows[b]);
      products += (a == b ? 1 : 2) * product * product;
    }
  return {std::sqrt(squares / freedom), squares * squares / products};
}

}  // namespace odrpo
