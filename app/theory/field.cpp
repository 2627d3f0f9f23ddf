// `odrpo-bench theory field` and `theory objective`: the exact field at a point of the simplex, and the objective that it climbs.
#include "estimators/theory/field.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/theory/judge_field.hpp"
#include "app/theory/command.hpp"
#include "app/theory/request.hpp"
#include "app/theory/result_table.hpp"
#include "app/usage.hpp"
#include "estimators/definition.hpp"
#include "estimators/theory/objective.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo::app {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// The largest |curl| between two levels.
double largest(const std::vector<double>& curl) {
  double most = 0;
  for (const double c : curl) most = std::max(most, std::abs(c));
  return most;
}

/// J of uniform odrpo(grpo) is what the paper writes with 2/pi.
bool is_of_paper(const EstimatorConfig& c) {
  return c.form == Form::odrpo && c.norm == Norm::grpo && c.weight == Weight::uniform && !limit_refusal(c, no_median);
}

/// `theory field --triangle`: the loop of three levels.
TheoryTable loop_table(const TheoryFieldOptions& o) {
  const double corner = *o.triangle;
  if (!(corner > 0 && 3 * corner < 1)) throw Failure(Exit::usage, "--triangle: a share above 0 and below 1/3 is needed, such as 0.1");
  TheoryTable table;
  table.facts = {{"corner", {corner}}, {"values", read_values(o, 3)}};
  table.title =
      fmt::format("exact update field around the triangle with corners ({0:.6g}, {1:.6g}, {1:.6g}) and so on", 1 - 2 * corner, corner);
  table.columns = {"estimator", "M", "circulation", "share", "least_cosine"};
  const std::vector<int> sizes = read_wholes("--group-size", o.group_sizes, 2, most_theory_members, {8});
  for (const EstimatorConfig& config : read_estimators(o, paper_estimators(), table.notes)) {
    for (const int m : sizes) {
      const Circulation loop = triangle_circulation({config, read_values(o, 3), m}, corner);
      table.rows.push_back({name_of(config), static_cast<long long>(m), loop.along, loop.along / loop.length, loop.least_cosine});
    }
    table.formulas.push_back(formula_line(config, o));
  }
  table.notes.push_back(
      fmt::format("circulation: |integral of F dl| around the loop, which is 0 for a gradient; share: of the integral of |F| dl. Midpoint "
                  "rule, {} points on an edge.",
                  loop_points));
  table.notes.push_back("least_cosine: the smallest cosine of the field with the gradient of E[r] on the loop.");
  return table;
}

}  // namespace

int theory_field(const TheoryFieldOptions& o) {
  const TheoryFormat format = theory_format(o);
  if (o.rater.empty() && !o.votes.empty()) throw Failure(Exit::usage, "--votes: only scores of a rater have votes; --rater names one");
  if (o.triangle && !o.rater.empty()) throw Failure(Exit::usage, "--triangle goes around a loop of exact scores, and --rater is at a point: keep one");
  if (!o.rater.empty()) {
    put(theory_text(channel_field_table(o), format));
    return static_cast<int>(Exit::ok);
  }
  if (o.triangle && !o.p.empty()) throw Failure(Exit::usage, "--triangle goes around a loop, and --p is a point: keep one");
  if (o.triangle) {
    put(theory_text(loop_table(o), format));
    return static_cast<int>(Exit::ok);
  }
  TheoryTable table;
  const TheoryPoint at = read_point(o, table);
  const std::vector<EstimatorConfig> estimators = read_estimators(o, paper_estimators(), table.notes);
  table.title = fmt::format("exact update field F_k(p) at p = {}", list_text(at.p));
  table.columns = {"estimator", "M"};
  for (std::size_t k = 1; k <= at.p.size(); ++k) table.columns.push_back(fmt::format("F_{}", k));
  table.columns.insert(table.columns.end(), {"cosine", "curl", "relative"});
  for (const EstimatorConfig& config : estimators) {
    for (const int m : at.sizes) {
      const TheorySetting setting{config, at.values, m};
      const std::vector<double> field = update_field(setting, at.p);
      std::vector<TheoryCell> row = {name_of(config), static_cast<long long>(m)};
      row.insert(row.end(), field.begin(), field.end());
      row.insert(row.end(), {field_cosine(field, at.values), largest(field_curl(setting, at.p)), relative_curl(setting, at.p)});
      table.rows.push_back(std::move(row));
    }
    table.formulas.push_back(formula_line(config, o));
  }
  table.notes.push_back("F_k(p): expected advantage of a member at level k whose M - 1 companions are drawn from p.");
  table.notes.push_back("cosine: with the gradient of E[r], in the tangent space of the simplex.");
  table.notes.push_back(
      "curl: the largest |(M-1) E C_ij(s)| between two levels; relative: |antisymmetric part| / |Jacobian| of F. Values of 1e-14 and below "
      "are rounding; the exact value is 0.");
  put(theory_text(table, format));
  return static_cast<int>(Exit::ok);
}

int theory_objective(const TheoryFieldOptions& o) {
  const TheoryFormat format = theory_format(o);
  TheoryTable table;
  const TheoryPoint at = read_point(o, table);
  const std::vector<double> reach = reach_of(at.p);
  const std::vector<EstimatorConfig> estimators = read_estimators(
      o, {"odrpo(grpo)", "odrpo(maxrl)", "odrpo-linear(grpo)", "odrpo-linear(maxrl)", "odrpo-gini(grpo)", "odrpo-gini(maxrl)"},
      table.notes);
  table.title = fmt::format("scalar objective J = sum over m of Delta_m H_m(P_m) at p = {}", list_text(at.p));
  table.columns = {"estimator", "M", "objective", "limit", "paper_2_over_pi", "why_none"};
  bool any = false;
  std::string refused;
  for (const EstimatorConfig& config : estimators) {
    const bool limited = !limit_refusal(config, no_median);
    for (const int m : at.sizes) {
      const auto why = objective_refusal(config, m, no_median);
      any = any || !why;
      if (why) refused = *why;
      table.rows.push_back({name_of(config), static_cast<long long>(m), why ? none : objective(config, at.values, m, no_median, reach),
                            limited ? objective(config, at.values, 0, no_median, reach) : none,
                            is_of_paper(config) ? paper_objective(at.values, reach) : none, why.value_or("")});
    }
    table.formulas.push_back(formula_line(config, o));
  }
  if (!any) throw Failure(Exit::limits, refused);
  table.notes.push_back(
      "objective: H_m(P) = (1/M) sum over x of (t_m(x) - u_m(x)) Pr(Bin(M, P) > x), whose gradient is the field; H_m(0) = 0.");
  const auto by_bits = [](const EstimatorConfig& c) { return row_of(c.form).basis == Basis::bit; };
  if (std::any_of(estimators.begin(), estimators.end(), by_bits))
    table.notes.push_back("odrpo-bitwise: J = sum over the bits b of 2^b H(Q_b), Q_b = Pr(score - 1 has the bit b).");
  table.notes.push_back(
      "limit: M -> infinity, up to a constant: 2 asin(sqrt P) for the norm grpo, log P for maxrl, by the weight. -inf where a level has P "
      "= 0.");
  table.notes.push_back("paper_2_over_pi: the paper's constant, which is 1/pi of the limit.");
  put(theory_text(table, format));
  return static_cast<int>(Exit::ok);
}

}  // namespace odrpo::app
