// Computes the exact update field for given probabilities of levels, and the objective that it climbs: `theory field`, `theory objective`.
#include "estimators/theory/field.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/flags/flag_values.hpp"
#include "app/theory/command.hpp"
#include "app/theory/request.hpp"
#include "app/theory/result_table.hpp"
#include "envs/bandit/believed.hpp"
#include "envs/rater/rater.hpp"
#include "envs/rater/vote.hpp"
#include "estimators/corrected.hpp"
#include "estimators/definition.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"

namespace odrpo::app {

// Computes the exact update field if a rater scores: `theory field --rater`.

/// Makes a table with rows for each estimator, group size and number of votes: one for each true level, and one for all levels. Failure
/// `usage` for raters whose scores are not integers 1..K.
TheoryTable channel_field_table(const TheoryFieldOptions& o);

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr double most_table_work = 20 * most_theory_work;  // most elementary steps for a whole table, about a minute

}  // namespace

TheoryTable channel_field_table(const TheoryFieldOptions& o) {
  TheoryTable table;
  const TheoryPoint at = read_point(o, table);
  const int levels = static_cast<int>(at.p.size());
  const RaterConfig rater = rater_named(o.rater);
  const auto refuse = [&](const std::string& why) { fail(Exit::usage, "--rater {}: {}", shown(o.rater), why); };
  if (const int own = rater_levels(rater); own > 0 && own != levels) refuse(fmt::format("it has {} levels, and --p has {}", own, levels));
  if (scored_responses(rater.noise) != nullptr) refuse("the responses of a file have no score that follows from a true level");
  const std::vector<int> votes = read_wholes("--votes", o.votes, 1, max_distribution_votes, {1});
  for (const int n : votes)
    if (const auto why = whole_score_refusal(rater, n)) refuse(*why);
  const std::vector<EstimatorConfig> estimators = read_estimators(o, paper_estimators(), table.notes, JudgeKnown::channel);
  double work = 0;
  for (const EstimatorConfig& config : estimators)
    for (const int m : at.sizes)
      work += static_cast<double>(votes.size()) * channel_field_work({config, at.values, m}, prompt_traits(rater).size());
  if (work > most_table_work)
    fail(Exit::limits,
         "the whole table would take {:.1e} steps; the limit is {:.0e}: fewer --group-size, --votes or "
         "--estimator",
         work, most_table_work);
  table.title = fmt::format("exact update under the scores of rater {}; true levels have p = {}", shown(o.rater), list_text(at.p));
  table.columns = {"estimator", "M", "N", "level", "F_exact", "F", "bias", "gradient", "sd", "snr", "flips", "cosine"};
  for (const int n : votes) {
    const std::vector<LevelChannel> kinds = level_channels(rater, levels, n);
    table.facts.push_back({fmt::format("channel_{}", n), mean_channel(kinds)});
    for (const EstimatorConfig& config : estimators)
      for (const int m : at.sizes) {
        const TheorySetting setting{config, at.values, m};
        const std::vector<double> exact = update_field({form_of(config), at.values, m}, at.p);
        const ChannelField seen = channel_field(setting, at.p, kinds);
        double trace = 0;
        for (std::size_t k = 0; k < at.p.size(); ++k) {
          const double variance = seen.covariance[k * at.p.size() + k];
          trace += variance;
          table.rows.push_back({name_of(config), static_cast<long long>(m), static_cast<long long>(n), std::to_string(k + 1), exact[k],
                                seen.field[k], seen.bias[k], seen.gradient[k], std::sqrt(std::max(variance, 0.0)), seen.snr[k],
                                seen.flips[k], none});
        }
        table.rows.push_back({name_of(config), static_cast<long long>(m), static_cast<long long>(n), std::string("all"), none, none, none,
                              none, std::sqrt(trace), seen.all_snr, seen.all_flips, seen.cosine});
      }
  }
  for (const EstimatorConfig& config : estimators) table.formulas.push_back(formula_line(config, o));
  table.notes.push_back("F: expected advantage of a member whose true level it is; F_exact: under exact scores. bias: F less F_exact, either "
                        "without its mean under p, which moves nothing.");
  table.notes.push_back("gradient: of one group by the logits of a softmax over true levels, (1/M) sum of A_i (1[level of i = j] - p_j): its "
                        "mean, sd, and snr = mean^2 / variance; all: sums over levels. Rows of covariances are in `compute`, function channel_field.");
  table.notes.push_back("flips: probability that a lower true level, drawn from p, expects the higher advantage, given the companions' scores; "
                        "all: of two levels drawn from p that differ. cosine: of the mean gradient with that of the expected value.");
  table.notes.push_back(
      "A true level is a whole quality. The calls about a response share its ambiguity and its other traits, and the responses of a group "
      "share their prompt's: its noise, the judge's severity, which judge of a panel it is.");
  if (rater.world.hack_share > 0) table.notes.push_back("Responses that hack are left out: their scores follow from no level.");
  return table;
}

namespace {

/// The largest absolute value of the curl between two levels.
double largest(const std::vector<double>& curl) {
  double most = 0;
  for (const double c : curl) most = std::max(most, std::abs(c));
  return most;
}

/// True for odrpo(grpo) with uniform weights, whose objective J the paper writes with the factor 2/pi.
bool is_of_paper(const EstimatorConfig& c) {
  return c.form == Form::odrpo && c.norm == Norm::grpo && c.weight == Weight::uniform && !limit_refusal(c, no_median);
}

/// The table of `theory field --triangle`: integrals of the update field around a triangle in the space of probabilities of three levels.
TheoryTable loop_table(const TheoryFieldOptions& o) {
  const double corner = *o.triangle;
  if (!(corner > 0 && 3 * corner < 1)) fail(Exit::usage, "--triangle: a share above 0 and below 1/3 is needed, such as 0.1");
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
  if (o.rater.empty() && !o.votes.empty()) fail(Exit::usage, "--votes: only scores of a rater have votes; --rater names one");
  if (o.triangle && !o.rater.empty())
    fail(Exit::usage, "--triangle goes around a loop of exact scores, and --rater is at a point: keep one");
  if (!o.rater.empty()) {
    put(theory_text(channel_field_table(o), format));
    return static_cast<int>(Exit::ok);
  }
  if (o.triangle && !o.p.empty()) fail(Exit::usage, "--triangle goes around a loop, and --p is a point: keep one");
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
