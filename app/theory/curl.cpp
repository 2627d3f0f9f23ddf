// `odrpo-bench theory curl`: mean absolute curl by estimator, levels and group size.
#include <fmt/format.h>

#include "app/command.hpp"
#include "app/figure_format.hpp"
#include "app/output_file.hpp"
#include "app/theory/figures.hpp"
#include "app/theory/request.hpp"
#include "app/theory/table.hpp"
#include "app/usage.hpp"
#include "estimators/theory/field.hpp"
#include "kernels/failure.hpp"

namespace odrpo::app {
namespace {

constexpr double most_work = 20 * most_theory_work;  // of a whole table: about a minute

std::vector<int> range_of(int first, int last) {
  std::vector<int> numbers;
  for (int n = first; n <= last; ++n) numbers.push_back(n);
  return numbers;
}

}  // namespace

int theory_curl(const TheoryCurlOptions& o) {
  const TheoryFormat format = theory_format(o);
  TheoryTable table;
  table.title = "mean absolute curl (MAC) of the update field; exact sums over all histograms";
  const std::vector<EstimatorConfig> estimators = read_estimators(o, paper_estimators(), table.notes);
  if (!o.values.empty() && !o.levels.empty()) throw Failure(Exit::usage, "--values and --levels both say what the levels are: keep one");
  std::vector<int> levels = read_wholes("--levels", o.levels, 2, most_theory_levels, range_of(2, 10));
  if (!o.values.empty()) levels = {static_cast<int>(read_values(o, 0).size())};
  const std::vector<int> sizes = read_wholes("--group-size", o.group_sizes, 2, most_theory_members, range_of(2, 16));
  if (!o.figure.empty()) figure_format("--figure", o.figure), check_output(o.figure, "");

  table.columns = {"estimator", "K", "M", "mac_all", "mac_pairs", "curl_all", "curl_pairs", "histograms"};
  const auto whole = [](double n) { return static_cast<long long>(n); };
  std::vector<CurlPoint> points;
  double work = 0;
  for (const EstimatorConfig& config : estimators)
    for (const int k : levels)
      for (const int m : sizes) work += mean_curl_work({config, read_values(o, k), m});
  if (work > most_work)
    throw Failure(Exit::limits,
                  fmt::format("the whole table would take {:.1e} steps; the limit is {:.0e}: fewer --levels, --group-size or --estimator",
                              work, most_work));
  for (const EstimatorConfig& config : estimators)
    for (const int k : levels)
      for (const int m : sizes) {
        const MeanCurl mac = mean_absolute_curl({config, read_values(o, k), m});
        table.rows.push_back(
            {name_of(config), whole(k), whole(m), mac.all, mac.pairs, (m - 1) * mac.all, (m - 1) * mac.pairs, whole(mac.histograms)});
        points.push_back({name_of(config), k, m, mac.all, (m - 1) * mac.all});
      }
  for (const EstimatorConfig& config : estimators) table.formulas.push_back(formula_line(config, o));
  table.notes.push_back("mac_all: mean of |C_ij(s)| over 1 <= i, j <= K and the histograms s of M - 2 members; mac_pairs: over i < j < K.");
  table.notes.push_back(
      "curl_all, curl_pairs: the same times M - 1, as the curl of the field has it. Values of 1e-14 and below are rounding; the exact "
      "value is 0.");
  if (!o.figure.empty()) draw_curl_figure(points, o.figure);
  put(theory_text(table, format));
  return static_cast<int>(Exit::ok);
}

}  // namespace odrpo::app
