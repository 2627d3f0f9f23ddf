// Pairs the runs of several cells by unit (usually the seed). Computes differences and leads from the pairs.
#include <algorithm>
#include <cmath>
#include <limits>

#include "results/stats/run_statistics.hpp"

namespace odrpo {
namespace {

using Run = RunTable::Run;

/// The runs of one cell, which are neighbours in the table.
std::span<const Run> runs_of(const RunTable& table, std::size_t cell) {
  const auto [first, last] = std::equal_range(table.runs.begin(), table.runs.end(), Run{static_cast<std::uint32_t>(cell), 0, 0, 0, 0},
                                              [](const Run& a, const Run& b) { return a.cell < b.cell; });
  return {first, last};
}

const Run* run_at(std::span<const Run> runs, std::uint32_t task, std::uint32_t unit) {
  const auto at = std::lower_bound(runs.begin(), runs.end(), std::pair(task, unit),
                                   [](const Run& run, const auto& wanted) { return std::pair(run.task, run.unit) < wanted; });
  return at != runs.end() && at->task == task && at->unit == unit ? &*at : nullptr;
}

/// The tasks in which every one of `cells` has a run.
std::vector<std::uint32_t> shared_tasks(const RunTable& table, const std::vector<std::span<const Run>>& cells) {
  std::vector<std::size_t> times(table.tasks.size(), 0);
  for (const auto& runs : cells)
    for (std::size_t i = 0; i < runs.size(); ++i)
      if (i == 0 || runs[i].task != runs[i - 1].task) ++times[runs[i].task];
  std::vector<std::uint32_t> shared;
  for (std::uint32_t t = 0; t < times.size(); ++t)
    if (times[t] == cells.size()) shared.push_back(t);
  return shared;
}

/// Returns sum / count, but exactly 0 if the sum may be rounding error alone. `terms` sums the absolute values of what was added.
double mean_of(double sum, double terms, std::size_t count) {
  return std::fabs(sum) > 1e-15 * terms ? sum / static_cast<double>(count) : 0;
}

/// The values of one cell in one task. at[k][u] is that of unit u at setting k (say, a learning rate), NaN if there is no run. Setting 0 is
/// the one that the cell chose. `sign` is the cell's sign in the difference.
struct Arm {
  double sign;
  std::vector<std::vector<double>> at;
};

/// Returns one lead for each combination of settings. A unit's value is the mean over tasks of `by` * sum over arms of sign * value. Arms
/// with the sign `kept` keep the setting that they chose; the others run through all of theirs.
std::vector<Lead> leads_of(std::span<const Arm> arms, double kept, double by, std::size_t tasks) {
  const double no_interval = std::numeric_limits<double>::quiet_NaN();
  std::vector<Lead> leads;
  std::vector<std::size_t> at(arms.size(), 0);
  std::vector<double> values;
  for (std::size_t next = 0; next < arms.size();) {
    values.clear();
    for (std::size_t unit = 0; unit < arms[0].at[0].size(); ++unit) {
      double sum = 0, terms = 0;
      for (std::size_t a = 0; a < arms.size(); ++a) {
        const double value = arms[a].at[at[a]][unit];
        sum += by * arms[a].sign * value;
        terms += std::fabs(value);
      }
      if (!std::isnan(sum)) values.push_back(mean_of(sum, terms, tasks));
    }
    leads.push_back({.by = mean_interval(values, no_interval)});
    for (next = 0; next < arms.size(); at[next++] = 0)
      if (arms[next].sign != kept && ++at[next] < arms[next].at.size()) break;
  }
  return leads;
}

}  // namespace

PairedRuns pair_runs(const RunTable& table, std::span<const std::size_t> cells) {
  std::vector<std::span<const Run>> runs;
  for (const std::size_t cell : cells) runs.push_back(runs_of(table, cell));
  const std::vector<std::uint32_t> tasks = shared_tasks(table, runs);
  PairedRuns paired;
  paired.scores.assign(cells.size(), TaskScores(tasks.size()));
  // common[t]: units that every cell has in task t; seen: units that some cell has in some of these tasks
  std::vector<std::vector<std::uint32_t>> common(tasks.size());
  std::vector<int> times(table.units.size(), 0);
  std::vector<bool> seen(table.units.size(), false);
  for (std::size_t t = 0; t < tasks.size(); ++t)
    for (const auto& cell : runs)
      for (const Run& run : cell) {
        if (run.task != tasks[t]) continue;
        seen[run.unit] = true;
        if (&cell != &runs.front()) continue;
        const auto has = [&](const auto& other) { return run_at(other, run.task, run.unit) != nullptr; };
        if (!std::all_of(runs.begin(), runs.end(), has)) continue;
        common[t].push_back(run.unit);
        ++times[run.unit];
      }
  const bool nested = tasks.size() > 1 && std::all_of(times.begin(), times.end(), [](int n) { return n < 2; });
  paired.crossed = !nested;
  const int needed = nested ? 1 : static_cast<int>(tasks.size());
  for (std::size_t u = 0; u < seen.size(); ++u) paired.left_out += seen[u] && times[u] < needed;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    std::erase_if(common[t], [&](std::uint32_t unit) { return times[unit] < needed; });
    for (std::size_t c = 0; c < cells.size(); ++c)
      for (const std::uint32_t unit : common[t]) paired.scores[c][t].push_back(run_at(runs[c], tasks[t], unit)->value);
    if (nested || t == 0) paired.sizes.push_back(static_cast<std::uint32_t>(common[t].size()));
  }
  return paired;
}

TaskScores paired_differences(const PairedRuns& runs, std::span<const double> signs) {
  TaskScores strata;
  for (const std::uint32_t size : runs.sizes) strata.emplace_back(size, 0.0);
  const std::size_t tasks = runs.scores[0].size(), per_unit = runs.crossed ? tasks : 1;
  for (std::size_t s = 0; s < strata.size(); ++s)
    for (std::size_t i = 0; i < strata[s].size(); ++i) {
      double sum = 0, terms = 0;
      for (std::size_t t = s; t < s + per_unit; ++t)
        for (std::size_t c = 0; c < signs.size(); ++c) {
          sum += signs[c] * runs.scores[c][t][i];
          terms += std::fabs(runs.scores[c][t][i]);
        }
      strata[s][i] = mean_of(sum, terms, per_unit);
    }
  return strata;
}

std::optional<ChosenComparison> compare_choices(const RunTable& table, std::span<const std::size_t> cells, std::span<const double> signs) {
  std::vector<std::span<const Run>> runs;
  for (const std::size_t cell : cells) runs.push_back(runs_of(table, cell));
  const std::vector<std::uint32_t> tasks = shared_tasks(table, runs);
  const std::vector<double> none(table.units.size(), std::numeric_limits<double>::quiet_NaN());
  std::vector<Arm> arms;
  double plus = 1, minus = 1;  // number of combinations of settings of the cells with this sign
  for (const std::uint32_t task : tasks)
    for (std::size_t c = 0; c < cells.size(); ++c) {
      Arm arm{signs[c], {none}};
      for (const Run& run : runs[c])
        if (run.task == task) arm.at[0][run.unit] = run.value;
      for (const RunTable::UnitValues& there : table.other_choices[cells[c]][task]) {
        arm.at.push_back(none);
        for (const auto& [unit, value] : there) arm.at.back()[unit] = value;
      }
      (signs[c] > 0 ? plus : minus) *= static_cast<double>(arm.at.size());
      arms.push_back(std::move(arm));
    }
  if (std::max(plus, minus) > most_combinations) return std::nullopt;
  const double better = table.more_is_better ? 1 : -1;
  return ChosenComparison{leads_of(arms, 1, better, tasks.size()), leads_of(arms, -1, -better, tasks.size())};
}

}  // namespace odrpo
