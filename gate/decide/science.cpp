// Cells of paired runs: measures, Holm's correction over all of them, verdicts.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

#include "gate/decide/decide.hpp"
#include "kernels/math.hpp"
#include "kernels/shared/utf8.hpp"
#include "results/export/file_diff.hpp"
#include "results/stats/power.hpp"
#include "results/stats/statistics.hpp"

namespace odrpo {
namespace {

constexpr double share_of_gain = 0.9;

struct Pair {
  std::size_t old_run, new_run;
};

/// The pairs of a cell: those that ended well in both files; and of all, whether they failed.
struct CellPairs {
  std::vector<Pair> good;
  std::vector<double> old_failed, new_failed;  ///< [runs of both files] 0 or 1
};

/// "a/b/n1" of the run "a/b/n1/s0".
std::string_view without_seed(std::string_view id) { return id.substr(0, std::min(id.rfind('/'), id.size())); }

/// Of each run its curve, or null.
std::vector<const RunCurve*> by_run(const ScienceFile& file) {
  std::vector<const RunCurve*> out(file.table.runs, nullptr);
  for (const RunCurve& curve : file.quality)
    if (curve.run < out.size()) out[curve.run] = &curve;
  return out;
}

/// Paired values of both files, of runs that have them.
struct PairedValues {
  std::vector<double> base, other;
  int undefined = 0;  ///< in one file alone
  void add(double x, double y) {
    undefined += std::isnan(x) != std::isnan(y);
    if (std::isnan(x) || std::isnan(y)) return;
    base.push_back(x);
    other.push_back(y);
  }
};

PairedValues column_values(const ScienceFile& a, const ScienceFile& b, const char* name, const std::vector<Pair>& pairs) {
  PairedValues out;
  const Column *x = a.table.column(name), *y = b.table.column(name);
  const bool in_a = x != nullptr && x->numeric, in_b = y != nullptr && y->numeric;
  if (in_a != in_b) out.undefined = static_cast<int>(pairs.size());
  if (!in_a || !in_b) return out;
  for (const Pair& pair : pairs) out.add(x->number[pair.old_run], y->number[pair.new_run]);
  return out;
}

/// Steps to the gain of pairs whose curves are both there.
PairedValues steps_values(const std::vector<const RunCurve*>& of_a, const std::vector<const RunCurve*>& of_b,
                          const std::vector<Pair>& pairs, int& never) {
  PairedValues out;
  const auto there = [](const RunCurve* curve) { return curve != nullptr && !curve->value.empty(); };
  for (const Pair& pair : pairs) {
    const RunCurve *x = of_a[pair.old_run], *y = of_b[pair.new_run];
    out.undefined += there(x) != there(y);
    if (!there(x) || !there(y)) continue;
    const auto target = gain_target(*x, *y);
    if (!target) continue;
    const StepsToGain a = steps_to_gain(*x, *target), b = steps_to_gain(*y, *target);
    out.add(a.steps, b.steps);
    never += a.never || b.never;
  }
  return out;
}

bool passes(const ScienceMeasure& m) { return m.undefined == 0 && (m.test.difference.n == 0 || (m.test.within && m.never == 0)); }
/// Does its mean lie, as far as is known, outside of the margin?
bool may_move(const ScienceMeasure& m) { return m.test.difference.n > 0 && !m.test.within; }

/// The fewest pairs of equal differences that move a cell: the sign test's 2^(1 - n) below alpha.
int equal_pairs_needed(double alpha) { return 1 + static_cast<int>(std::ceil(std::log2(1 / alpha))); }

/// The smaller of two numbers of pairs, where 0 is more than a million.
int fewer(int a, int b) { return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b); }

/// With how many pairs would the cell have a verdict, if its differences are those seen? One measure moves it, all must be within.
int pairs_to_decide(const ScienceCell& cell, int tests) {
  int within = 1, moved = 0;
  for (const ScienceMeasure& m : cell.measures) {
    if (passes(m)) continue;
    const MeanInterval& d = m.test.difference;
    const int needed = m.never > 0 || m.undefined > 0 ? 0 : pairs_for_equivalence(m.test.margin, d.sd, d.mean);
    within = within == 0 || needed == 0 ? 0 : std::max(within, needed);
    if (!may_move(m)) continue;
    const double alpha = star_level / tests;
    const bool equal = d.sd <= 1e-13 * std::abs(d.mean);
    moved = fewer(moved, equal ? (d.mean != 0 ? equal_pairs_needed(alpha) : 0) : pairs_needed(std::abs(d.mean), d.sd, alpha));
  }
  if (cell.failed_old + cell.failed_new > 0) within = 0;
  const int needed = fewer(within, moved);
  return needed == 0 ? 0 : std::max(needed, cell.pairs + 1);
}

void judge(ScienceCell& cell, int tests) {
  for (const ScienceMeasure& m : cell.measures) cell.compared = cell.compared || m.test.difference.n > 0;
  bool same = cell.compared && cell.failed_old + cell.failed_new == 0, moved = cell.failed_p_holm < star_level;
  for (const ScienceMeasure& m : cell.measures) {
    same = same && passes(m);
    moved = moved || (may_move(m) && m.p_holm < star_level);
  }
  cell.verdict = moved ? ScienceVerdict::moved : same ? ScienceVerdict::same : ScienceVerdict::inconclusive;
  if (cell.verdict == ScienceVerdict::inconclusive) cell.seeds_needed = pairs_to_decide(cell, tests);
}

/// Corrects the tests of all measures and failures of all cells as one family; how many were tested.
int correct(std::vector<ScienceCell>& cells) {
  std::vector<FamilyTest> family;
  for (ScienceCell& cell : cells) {
    for (ScienceMeasure& m : cell.measures) family.push_back({m.test.p, &m.p_holm});
    family.push_back({cell.failed_p, &cell.failed_p_holm});
  }
  return correct_family(family, star_level);
}

/// Smaller is worse.
auto badness(const ScienceCell& cell) {
  double p = std::isnan(cell.failed_p_holm) ? 1 : cell.failed_p_holm, part = 0;
  for (const ScienceMeasure& m : cell.measures) {
    if (!std::isnan(m.p_holm)) p = std::min(p, m.p_holm);
    if (m.test.difference.n > 0) part = std::max(part, std::abs(m.test.difference.mean) / m.test.margin);
  }
  return std::tuple(static_cast<int>(cell.verdict), p, -part);
}

void set_power(ScienceComparison& out) {
  std::vector<double> found;
  for (const ScienceCell& cell : out.cells) {
    const MeanInterval& d = cell.measures[science_gain].test.difference;
    if (d.n < 2) continue;
    const double error = median_unbiased_sd(d.sd, d.n) / std::sqrt(d.n), alpha = star_level / std::max(1, out.tests);
    const Rejection moved = {.factor = student_factor(d.n, 1 - alpha),
                             .margin = cell.measures[science_gain].test.margin / error,
                             .within_factor = student_factor(d.n, 0.9)};
    found.push_back(error > 0 ? detectable_mean(moved, d.n - 1, 0.8) * error : cell.measures[science_gain].test.margin);
  }
  out.found_gain = quartiles(found).median;
  out.found_gain_worst = found.empty() ? undefined : *std::max_element(found.begin(), found.end());
}

}  // namespace

std::vector<std::string> science_columns(const ResultFile& head) { return diff_columns(head); }

StepsToGain steps_to_gain(const RunCurve& curve, double target) {
  for (std::size_t i = 0; i < curve.value.size(); ++i)
    if (curve.value[i] >= target) return {static_cast<double>(curve.step[i])};
  return {static_cast<double>(curve.step.back()), true};
}

std::optional<double> gain_target(const RunCurve& one, const RunCurve& other) {
  const double start = (one.value.front() + other.value.front()) / 2, end = (one.value.back() + other.value.back()) / 2;
  if (!(end > start)) return std::nullopt;
  return start + share_of_gain * (end - start);
}

ScienceComparison compare_science(const ScienceFile& old_file, const ScienceFile& new_file, const ScienceMargins& margins) {
  const ResultFile &a = old_file.table, &b = new_file.table;
  const Column &id_a = *a.column("id"), &id_b = *b.column("id");
  std::map<std::string_view, std::size_t> place;
  for (std::size_t j = 0; j < b.runs; ++j) place.emplace(id_b.text(j), j);
  std::map<std::string_view, CellPairs> pairs;
  for (std::size_t i = 0; i < a.runs; ++i) {
    const auto found = place.find(id_a.text(i));
    if (found == place.end()) continue;
    CellPairs& cell = pairs[without_seed(id_a.text(i))];
    cell.old_failed.push_back(!a.ok(i));
    cell.new_failed.push_back(!b.ok(found->second));
    if (a.ok(i) && b.ok(found->second)) cell.good.push_back({i, found->second});
  }
  const std::vector<const RunCurve*> curve_a = by_run(old_file), curve_b = by_run(new_file);
  ScienceComparison out;
  for (const auto& [name, of] : pairs) {
    ScienceCell cell;
    cell.name = printable_text(name);
    cell.pairs = static_cast<int>(of.good.size());
    for (std::size_t i = 0; i < of.old_failed.size(); ++i) {
      cell.failed_old += of.old_failed[i] > of.new_failed[i];
      cell.failed_new += of.new_failed[i] > of.old_failed[i];
    }
    cell.failed_p = mcnemar_p(of.old_failed, of.new_failed);
    const PairedValues quality = column_values(old_file, new_file, "final_quality", of.good);
    const PairedValues gain = column_values(old_file, new_file, "final_gain", of.good);
    const PairedValues steps = steps_values(curve_a, curve_b, of.good, cell.measures[science_steps].never);
    cell.measures[science_quality].test = equivalence(quality.base, quality.other, margins[science_quality]);
    cell.measures[science_gain].test = equivalence(gain.base, gain.other, margins[science_gain]);
    cell.measures[science_quality].undefined = quality.undefined;
    cell.measures[science_gain].undefined = gain.undefined;
    cell.measures[science_steps].undefined = steps.undefined;
    cell.measures[science_steps].test = ratio_equivalence(steps.base, steps.other, margins[science_steps]);
    out.pairs += of.good.size();
    out.cells.push_back(std::move(cell));
  }
  out.tests = correct(out.cells);
  for (ScienceCell& cell : out.cells) judge(cell, std::max(1, out.tests));
  std::stable_sort(out.cells.begin(), out.cells.end(), [](const ScienceCell& x, const ScienceCell& y) { return badness(x) < badness(y); });
  if (!out.cells.empty()) out.verdict = out.cells.front().verdict;
  set_power(out);
  return out;
}

}  // namespace odrpo
