// Computes the statistics of runs: each cell, then each row against its baseline, then Holm's correction over all tests.
#include "results/stats/run_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "kernels/math.hpp"
#include "results/stats/aggregate_metrics.hpp"
#include "results/stats/statistics.hpp"

namespace odrpo {
namespace {

constexpr std::size_t at_once = 8;  // thresholds of one bootstrap: a million resamples of them take 64 MB

Interval bootstrap_interval(const BootstrapDistribution& distribution, const StatisticsOptions& o) {
  if (o.interval == IntervalKind::percentile) return percentile_interval(distribution, o.level);
  if (o.interval == IntervalKind::bca) return bca_interval(distribution, o.level);
  return bca_interval(distribution, expanded_level(static_cast<int>(distribution.fewest), static_cast<int>(distribution.freedom), o.level));
}

Estimate estimate(const BootstrapDistribution& distribution, const StatisticsOptions& o) {
  const Interval i = bootstrap_interval(distribution, o);
  return {distribution.estimate, i.lo, i.hi};
}

/// False if the values are equal but for rounding. An interval without width would then say that the mean is known.
bool varies(double sd, double mean) { return sd > 1e-13 * std::fabs(mean); }

Interval student_interval(const MeanInterval& m) { return varies(m.sd, m.mean) ? Interval{m.lo, m.hi} : Interval{undefined, undefined}; }

std::vector<Estimate> profile_of(const UnitScores& scores, const StatisticsOptions& o, double (*share)(const TaskScores&, double)) {
  std::vector<Estimate> estimates;
  for (std::size_t from = 0; from < o.thresholds.size(); from += at_once) {
    std::vector<Metric> metrics;
    for (std::size_t k = from; k < std::min(from + at_once, o.thresholds.size()); ++k)
      metrics.push_back([share, tau = o.thresholds[k]](const TaskScores& s) { return share(s, tau); });
    for (const BootstrapDistribution& distribution : unit_bootstrap(scores, metrics, o.resamples, o.seed)) estimates.push_back(estimate(distribution, o));
  }
  return estimates;
}

/// The runs of a cell by task, and the unit of each; a task in which the cell has no run is empty.
struct CellRuns {
  TaskScores scores;
  std::vector<std::vector<std::uint32_t>> units;
};
std::vector<CellRuns> runs_of_cells(const RunTable& table) {
  const std::size_t tasks = table.tasks.size();
  std::vector<CellRuns> cells(table.cells.size(), {TaskScores(tasks), std::vector<std::vector<std::uint32_t>>(tasks)});
  for (const RunTable::Run& run : table.runs) {
    cells[run.cell].scores[run.task].push_back(run.value);
    cells[run.cell].units[run.task].push_back(run.unit);
  }
  return cells;
}

CellStatistics statistics_of(CellRuns runs, const StatisticsOptions& o) {
  const bool several_tasks = runs.scores.size() > 1;
  std::erase_if(runs.scores, [](const auto& of_task) { return of_task.empty(); });
  std::erase_if(runs.units, [](const auto& of_task) { return of_task.empty(); });
  const UnitScores scores = by_unit(std::move(runs.scores), runs.units);
  CellStatistics cell;
  cell.tasks = static_cast<int>(scores.scores.size());
  for (const auto& of_task : scores.scores) {
    const int n = static_cast<int>(of_task.size());
    cell.fewest = &of_task == &scores.scores.front() ? n : std::min(cell.fewest, n);
    cell.runs += n;
  }
  std::vector<Metric> metrics = {aggregate_mean, several_tasks ? aggregate_median : median_of_runs, interquartile_mean};
  if (o.gamma) metrics.push_back([gamma = *o.gamma](const TaskScores& s) { return optimality_gap(s, gamma); });
  const std::vector<BootstrapDistribution> distributions = unit_bootstrap(scores, metrics, o.resamples, o.seed);
  cell.mean = estimate(distributions[0], o);
  cell.median = estimate(distributions[1], o);
  cell.iqm = estimate(distributions[2], o);
  cell.optimality_gap = o.gamma ? estimate(distributions[3], o) : Estimate{undefined, undefined, undefined};
  if (o.interval == IntervalKind::student) {
    const Interval i = student_interval(unit_mean(scores, o.level).mean);
    cell.mean = {cell.mean.value, i.lo, i.hi};
  }
  const PooledSd pooled = pooled_sd(scores);
  const SdInterval spread = sd_interval_of(varies(pooled.sd, cell.mean.value) ? pooled.sd : undefined, pooled.freedom, o.level);
  cell.sd = {pooled.sd, spread.lo, spread.hi};
  cell.profile = profile_of(scores, o, run_score_distribution);
  if (several_tasks) cell.average_profile = profile_of(scores, o, average_score_distribution);
  return cell;
}

std::optional<std::size_t> find_cell(const RunTable& table, const std::vector<std::string>& name) {
  const auto at = std::find(table.cells.begin(), table.cells.end(), name);
  if (at == table.cells.end()) return std::nullopt;
  return static_cast<std::size_t>(at - table.cells.begin());
}

/// The signs, in a difference (of differences), of a row, its baseline, and the same two with ContrastChoice::without.
constexpr double all_signs[] = {1, -1, -1, 1};

std::span<const double> signs_of(std::span<const std::size_t> cells) { return std::span(all_signs).first(cells.size()); }

Difference difference_of(const RunTable& table, std::span<const std::size_t> cells, const StatisticsOptions& o) {
  const PairedRuns paired = pair_runs(table, cells);
  const TaskScores differences = paired_differences(paired, signs_of(cells));
  const StratifiedMean student = stratified_mean(differences, o.level);
  const Metric mean = aggregate_mean;
  Difference d{cells[0], cells[1], static_cast<int>(paired.scores[0].size()), paired.left_out, student.mean, {}, {}, student.p, undefined};
  const Interval t = student_interval(student.mean);
  d.student.lo = t.lo;
  d.student.hi = t.hi;
  d.bootstrap = bootstrap_interval(unit_bootstrap(units_apart(differences), {&mean, 1}, o.resamples, o.seed)[0], o);
  d.improvement = {undefined, undefined, undefined};
  return d;
}

void not_tested(Difference& d) { d.p = d.student.lo = d.student.hi = d.bootstrap.lo = d.bootstrap.hi = undefined; }

/// Estimates P(x > y) over the tasks that both cells have, from all their runs as if independent. The t interval is on the scale of log(p /
/// (1 - p)). It comes from the share of the other cell's runs that each run beats; a unit brings all its runs of both cells (Munzel 1999,
/// "Nonparametric methods for paired samples"; without common units Brunner and Munzel 2000).
Estimate improvement_of(const CellRuns& x, const CellRuns& y, const StatisticsOptions& o) {
  TaskScores row, baseline, shares;
  std::vector<std::vector<std::uint32_t>> units;
  for (std::size_t t = 0; t < x.scores.size(); ++t) {
    if (x.scores[t].empty() || y.scores[t].empty()) continue;
    row.push_back(x.scores[t]);
    baseline.push_back(y.scores[t]);
    shares.push_back(win_shares(x.scores[t], y.scores[t]));
    shares.push_back(win_shares(y.scores[t], x.scores[t]));
    for (double& lost : shares.back()) lost = 1 - lost;
    units.insert(units.end(), {x.units[t], y.units[t]});
  }
  const double p = probability_of_improvement(row, baseline);
  const MeanInterval half = unit_mean(by_unit(std::move(shares), units), o.level).mean;  // both lists vary, and the mean counts each half
  if (!(p > 0 && p < 1) || !varies(half.sd, half.mean)) return {p, undefined, undefined};
  const double apart = math::exp((half.hi - half.lo) / (p * (1 - p)));
  return {p, p / (p + (1 - p) * apart), 1 - (1 - p) / (1 - p + p * apart)};
}

/// A difference, or a difference of differences, and the cells from which it is computed.
struct Tested {
  Difference* difference;
  std::vector<std::size_t> cells;
};

/// Sets p of a row and a baseline that chose settings on other seeds, over all that the other might have chosen (docs/statistics.md).
/// correct() sets the interval. Returns false if they might have chosen in too many ways.
bool test_choices(const Tested& of, const RunTable& table) {
  Difference& d = *of.difference;
  d.bootstrap = {undefined, undefined};
  if (std::isnan(d.p)) return true;
  const auto compared = compare_choices(table, of.cells, signs_of(of.cells));
  if (compared && compared->row_leads[0].by.n > 1) d.p = chosen_p(*compared);
  else not_tested(d);
  return compared.has_value();
}

/// Corrects the p values of all tests as one family, by Holm's method.
void correct(std::span<const Tested> tests, const RunTable& table, RunStatistics& s) {
  std::vector<std::optional<ChosenComparison>> chosen(tests.size());
  std::vector<FamilyTest> family;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    Difference& d = *tests[i].difference;
    if (!table.other_choices.empty() && !std::isnan(d.p)) chosen[i] = compare_choices(table, tests[i].cells, signs_of(tests[i].cells));
    family.push_back({d.p, &d.p_holm, chosen[i] ? &*chosen[i] : nullptr, &d.student, table.more_is_better});
  }
  s.family = correct_family(family, star_level);
}

std::string times(std::size_t n, const char* one, const char* many) { return std::to_string(n) + ' ' + (n == 1 ? one : many); }

/// Returns sentences that say what was left out, and why.
std::vector<std::string> notes_of(const RunTable& table, const RunStatistics& s) {
  std::vector<std::string> notes = table.notes;
  if (table.blank > 0) notes.push_back(times(table.blank, "run", "runs") + " left out: the value is blank");
  if (table.not_a_number > 0) notes.push_back(times(table.not_a_number, "run", "runs") + " left out: the value is NaN, NA, null or None, or named by --missing");
  const auto cells_that = [&](auto test) { return static_cast<std::size_t>(std::count_if(s.cells.begin(), s.cells.end(), test)); };
  if (const std::size_t n = cells_that([](const CellStatistics& c) { return c.runs == 0; }); n > 0)
    notes.push_back(times(n, "cell has", "cells have") + " no run with a value");
  const auto lacks_tasks = [&](const CellStatistics& c) { return c.tasks > 0 && c.tasks < static_cast<int>(table.tasks.size()); };
  if (const std::size_t n = cells_that(lacks_tasks); n > 0)
    notes.push_back(times(n, "cell lacks", "cells lack") +
                    " some tasks: their means are over fewer; differences take the tasks that both have");
  const auto lacking = [](const std::vector<Difference>& list) {
    return static_cast<std::size_t>(std::count_if(list.begin(), list.end(), [](const Difference& d) { return d.left_out > 0; }));
  };
  if (const std::size_t n = lacking(s.differences) + lacking(s.contrasts); n > 0)
    notes.push_back(times(n, "difference leaves", "differences leave") + " out units that one of the cells lacks (column pairs)");
  if (s.too_many_choices > 0)
    notes.push_back(times(static_cast<std::size_t>(s.too_many_choices), "difference is", "differences are") +
                    " not tested: the cells might have chosen in more than " + std::to_string(most_combinations) + " ways together");
  if (s.unmatched > 0)
    notes.push_back(times(static_cast<std::size_t>(s.unmatched), "row has", "rows have") + " no cell to be compared with");
  return notes;
}

}  // namespace

std::optional<std::size_t> baseline_of(const RunTable& table, const StatisticsOptions& o, std::size_t cell) {
  std::vector<std::string> name = table.cells[cell];
  for (std::size_t i = 0; i < name.size() && i < o.baseline.size(); ++i)
    if (o.baseline[i]) name[i] = *o.baseline[i];
  return find_cell(table, name);
}

RunStatistics run_statistics(const RunTable& table, const StatisticsOptions& o) {
  RunStatistics s;
  const std::vector<CellRuns> runs = runs_of_cells(table);
  for (std::size_t c = 0; c < table.cells.size(); ++c) {
    s.cells.push_back(statistics_of(runs[c], o));
    s.cells.back().name = table.cells[c];
  }
  std::set<std::pair<std::uint32_t, std::uint32_t>> units;
  for (const RunTable::Run& run : table.runs) s.cells[run.cell].units += units.emplace(run.cell, run.unit).second;
  if (o.baseline.empty()) {
    s.notes = notes_of(table, s);
    return s;
  }
  std::vector<std::vector<std::size_t>> differences, contrasts;  // for each comparison, its cells
  for (std::size_t c = 0; c < table.cells.size(); ++c) {
    const auto baseline = baseline_of(table, o, c);
    if (baseline == c) continue;
    if (baseline) differences.push_back({c, *baseline});
    else ++s.unmatched;
  }
  for (std::size_t c = 0; o.contrast && c < table.cells.size(); ++c) {
    if (table.cells[c][o.contrast->column] != o.contrast->with) continue;
    const auto baseline = baseline_of(table, o, c);
    if (baseline == c) continue;
    std::vector<std::string> other = table.cells[c];
    other[o.contrast->column] = o.contrast->without;
    const auto without = find_cell(table, other);
    const auto without_baseline = without ? baseline_of(table, o, *without) : std::nullopt;
    if (!baseline || !without || !without_baseline) ++s.unmatched;
    else contrasts.push_back({c, *baseline, *without, *without_baseline});
  }
  for (const auto& cells : differences) {
    s.differences.push_back(difference_of(table, cells, o));
    s.differences.back().improvement = improvement_of(runs[cells[0]], runs[cells[1]], o);
  }
  for (const auto& cells : contrasts) s.contrasts.push_back(difference_of(table, cells, o));
  std::vector<Tested> tests;
  for (std::size_t i = 0; i < differences.size(); ++i) tests.push_back({&s.differences[i], differences[i]});
  for (std::size_t i = 0; i < contrasts.size(); ++i) tests.push_back({&s.contrasts[i], contrasts[i]});
  for (const Tested& test : tests) {
    if (table.flattered) not_tested(*test.difference);
    else if (!table.other_choices.empty()) s.too_many_choices += !test_choices(test, table);
  }
  correct(tests, table, s);
  s.notes = notes_of(table, s);
  return s;
}

}  // namespace odrpo
