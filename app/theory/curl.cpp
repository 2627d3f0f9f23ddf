// Computes the mean absolute curl by estimator, levels and group size: `odrpo-bench theory curl`.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/plot/plot.hpp"
#include "app/run/shipped_suites.hpp"
#include "app/theory/command.hpp"
#include "app/theory/request.hpp"
#include "app/theory/result_table.hpp"
#include "config/spec.hpp"
#include "estimators/theory/field.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/output_file.hpp"
#include "kernels/system/terminal.hpp"

namespace odrpo::app {
namespace {

constexpr double most_work = 20 * most_theory_work;  // most elementary steps for a whole table, about a minute

std::vector<int> range_of(int first, int last) {
  std::vector<int> numbers;
  for (int n = first; n <= last; ++n) numbers.push_back(n);
  return numbers;
}

/// One row of the table: an estimator, the values of the levels, and the size M of a group.
struct Asked {
  EstimatorConfig config;
  std::vector<double> values;
  int members;
  TheorySetting setting() const { return {config, values, members}; }
};

std::vector<Asked> of_flags(const TheoryCurlOptions& o, TheoryTable& table) {
  const std::vector<EstimatorConfig> estimators = read_estimators(o, paper_estimators(), table.notes);
  if (!o.values.empty() && !o.levels.empty()) fail(Exit::usage, "--values and --levels both say what the levels are: keep one");
  std::vector<int> levels = read_wholes("--levels", o.levels, 2, most_theory_levels, range_of(2, 10));
  if (!o.values.empty()) levels = {static_cast<int>(read_values(o, 0).size())};
  std::vector<Asked> asked;
  for (const EstimatorConfig& config : estimators)
    for (const int k : levels)
      for (const int m : read_wholes("--group-size", o.group_sizes, 2, most_theory_members, range_of(2, 16)))
        asked.push_back({config, read_values(o, k), m});
  return asked;
}

/// The rows for a suite: each estimator, set of levels and group size of its runs. Leaves out rows without a curl, with a note.
std::vector<Asked> of_suite(const TheoryCurlOptions& o, TheoryTable& table) {
  if (!o.estimators.empty() || !o.levels.empty() || !o.group_sizes.empty() || !o.values.empty() || !o.compat.empty() || !o.median.empty() ||
      o.k > 0 || o.kappa || o.r_min || o.origin != 1)
    fail(Exit::usage, "the suite says estimators, conventions, levels and group sizes; give a suite or flags");
  std::string path = o.suite;
  const Suite suite = load_named_suite(path, {}, {});
  std::vector<Asked> asked;
  for (const std::size_t i : suite.runs.first_of_each({GridPart::env, GridPart::estimator, GridPart::learn})) {
    const RunSpec run = suite.runs[i];
    const Asked one{run.estimator, run.estimator.values.empty() ? plain_values(run.env.levels()) : run.estimator.values, run.learn.rollouts};
    const auto same = [&](const Asked& other) { return other.config == one.config && other.values == one.values && other.members == one.members; };
    if (std::any_of(asked.begin(), asked.end(), same)) continue;
    if (const auto why = theory_refusal(one.setting())) {
      std::string note = fmt::format("left out: {}: {}", name_of(run.estimator), *why);
      if (std::find(table.notes.begin(), table.notes.end(), note) == table.notes.end()) table.notes.push_back(std::move(note));
      continue;
    }
    try {
      mean_curl_work(one.setting());
    } catch (const Failure& why) {
      table.notes.push_back(fmt::format("left out: {} with K = {}, M = {}: {}", name_of(run.estimator), one.values.size(), one.members, why.what()));
      continue;
    }
    asked.push_back(one);
  }
  if (asked.empty()) fail(Exit::usage, "{}: no estimator of this suite has an update field", o.suite);
  std::stable_sort(asked.begin(), asked.end(), [](const Asked& a, const Asked& b) {
    return std::pair(a.values.size(), a.members) < std::pair(b.values.size(), b.members);
  });
  return asked;
}

}  // namespace

int theory_curl(const TheoryCurlOptions& o) {
  const TheoryFormat format = theory_format(o);
  TheoryTable table;
  table.title = "mean absolute curl (MAC) of the update field; exact sums over all histograms";
  if (!o.figure.empty()) figure_format("--figure", o.figure), check_output(o.figure, o.suite);
  const std::vector<Asked> asked = o.suite.empty() ? of_flags(o, table) : of_suite(o, table);

  table.columns = {"estimator", "K", "M", "mac_all", "mac_pairs", "curl_all", "curl_pairs", "histograms"};
  const auto whole = [](double n) { return static_cast<long long>(n); };
  std::vector<CurlPoint> points;
  double work = 0;
  for (const Asked& a : asked) work += mean_curl_work(a.setting());
  if (work > most_work)
    fail(Exit::limits, "the whole table would take {:.1e} steps; the limit is {:.0e}: fewer levels, group sizes or estimators", work,
         most_work);
  std::vector<EstimatorConfig> estimators;
  for (const Asked& a : asked)
    if (std::find(estimators.begin(), estimators.end(), a.config) == estimators.end()) estimators.push_back(a.config);
  for (const EstimatorConfig& config : estimators) {
    for (const Asked& a : asked) {
      if (!(a.config == config)) continue;
      const int k = static_cast<int>(a.values.size()), m = a.members;
      const MeanCurl mac = mean_absolute_curl(a.setting());
      table.rows.push_back(
          {name_of(config), whole(k), whole(m), mac.all, mac.pairs, (m - 1) * mac.all, (m - 1) * mac.pairs, whole(mac.histograms)});
      points.push_back({name_of(config), k, m, mac.all, (m - 1) * mac.all});
    }
    table.formulas.push_back(formula_line(config, o));
  }
  table.notes.push_back("mac_all: mean of |C_ij(s)| over 1 <= i, j <= K and the histograms s of M - 2 members; mac_pairs: over i < j < K.");
  table.notes.push_back(
      "curl_all, curl_pairs: the same times M - 1, as the curl of the field has it. Values of 1e-14 and below are rounding; the exact "
      "value is 0.");
  if (!o.figure.empty()) draw_curl_figure(points, o.figure);
  put(theory_text(table, format));
  return static_cast<int>(Exit::ok);
}

}  // namespace odrpo::app
