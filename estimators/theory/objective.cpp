// Potentials of levels: sums over binomial tails, and closed forms of their limits.
#include "estimators/theory/objective.hpp"

#include <algorithm>

#include "estimators/compat.hpp"
#include "estimators/definition.hpp"
#include "estimators/group/bits.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo {
namespace {

bool by_group_median(const EstimatorConfig& c, double median) {
  return c.form == Form::odrpo && reads_median(c.weight) && median != median;
}

/// Pr(Bin(members, p) > x) for x = 0..members-1: the law by its ratios from the mode on, summed from the upper end.
std::vector<double> tails(int members, double p) {
  const auto size = static_cast<std::size_t>(members) + 1;
  std::vector<double> law(size, 0.0);
  const auto mode = static_cast<std::size_t>(std::min<double>(members, math::floor((members + 1) * p)));
  law[mode] = 1;
  for (std::size_t x = mode; x + 1 < size && p < 1; ++x)
    law[x + 1] = law[x] * static_cast<double>(size - 1 - x) / static_cast<double>(x + 1) * (p / (1 - p));
  for (std::size_t x = mode; x > 0 && p > 0; --x)
    law[x - 1] = law[x] * static_cast<double>(x) / static_cast<double>(size - x) * ((1 - p) / p);
  double total = 0;
  for (const double probability : law) total += probability;
  double above = 0;
  std::vector<double> tail(size - 1);
  for (std::size_t x = size - 1; x > 0; --x) tail[x - 1] = (above += law[x]) / total;
  return tail;
}

}  // namespace

std::optional<std::string> objective_refusal(const EstimatorConfig& c, int members, double median) {
  if (const auto why = theory_refusal({c, plain_values(2), members}); why && !(median == median && c.median == MedianRule::running))
    return why;
  if (c.form == Form::reinforce || c.form == Form::rloo) {
    if (convention_of(c).divisor == Divisor::none) return std::nullopt;
  }
  const Basis basis = row_of(c.form).basis;
  if (basis != Basis::level && basis != Basis::bit)
    return "there is no scalar objective for K > 2: " + estimator_word(c) +
           " divides by a statistic of all levels at once, so its field has a curl";
  // M = 2 is the exception: one of the two members is below every level that tells them apart, and so is their lower median
  if (by_group_median(c, median) && (members > 2 || c.median != MedianRule::lower))
    return "there is no scalar objective for K > 2: the group's median couples the levels of gini-median, so its field has a curl";
  return std::nullopt;
}

double level_potential(const EstimatorConfig& c, int level, int members, double median, double reach) {
  if (const auto why = objective_refusal(c, members, median)) throw Failure(Exit::limits, *why);
  const double group = members;
  if (c.form == Form::reinforce || c.form == Form::rloo)  // F_k = R_k - E[r], but for the own share 1/M
    return (convention_of(c).centre == Centre::others ? 1.0 : (group - 1) / group) * reach;
  std::vector<double> t(static_cast<std::size_t>(members)), u(t.size());
  leave_one_out(c, members, level, by_group_median(c, median) ? 0.0 : median, t, u);
  const std::vector<double> tail = tails(members, reach);
  double sum = 0;
  for (std::size_t x = 0; x < t.size(); ++x) sum += (t[x] - u[x]) * tail[x];
  return sum / group;
}

std::optional<std::string> limit_refusal(const EstimatorConfig& c, double median) {
  if (!has_norm(c.form) || c.compat != Compat::paper || c.eps != 0)
    return "the limit M -> infinity is known in closed form for odrpo under the convention paper without eps";
  if (by_group_median(c, median)) return "the group's median couples the levels of gini-median: there is no scalar objective";
  return std::nullopt;
}

double limit_potential(const EstimatorConfig& c, int level, double median, double reach) {
  if (const auto why = limit_refusal(c, median)) throw Failure(Exit::limits, *why);
  const bool grpo = c.norm == Norm::grpo;
  const double arc = grpo ? math::asin(math::sqrt(reach)) : 0, shape = level_shape(c.weight, level);
  if (c.weight == Weight::uniform || c.weight == Weight::linear) return shape * (grpo ? 2 * arc : math::log(reach));
  const double d = reads_median(c.weight) ? median_decay(median, level) : 1.0;
  if (grpo) return shape * ((0.2 + d) * arc - d * math::sqrt(reach * (1 - reach)) * (1 - 2 * reach));
  return shape * (0.1 * math::log(reach) + d * (4 * reach - 2 * reach * reach));
}

double objective(const EstimatorConfig& c, std::span<const double> values, int members, double median, std::span<const double> reach) {
  const auto potential = [&](int level, double share) {
    return members == 0 ? limit_potential(c, level, median, share) : level_potential(c, level, members, median, share);
  };
  double sum = 0;
  if (row_of(c.form).basis == Basis::bit) {
    const int levels = static_cast<int>(values.size());
    for (int b = 0; b < bits_of(levels); ++b) {
      double share = 0;
      for (int m = 2; m <= levels; ++m)
        if (bit_of(m, b) != 0)
          share += reach[static_cast<std::size_t>(m - 2)] - (m < levels ? reach[static_cast<std::size_t>(m - 1)] : 0.0);
      sum += bit_weight(b) * potential(1, std::clamp(share, 0.0, 1.0));
    }
    return sum;
  }
  const std::vector<double> gaps = level_gaps(values);
  for (std::size_t m = 1; m < values.size(); ++m) sum += gaps[m] * potential(static_cast<int>(m) + 1, reach[m - 1]);
  return sum;
}

double paper_objective(std::span<const double> values, std::span<const double> reach) {
  return objective(*parse_estimator("odrpo(grpo)"), values, 0, no_median, reach) / math::pi;
}

std::vector<double> reach_of(std::span<const double> p) {
  std::vector<double> reach(p.size() - 1);
  double sum = 0;
  for (std::size_t k = p.size(); k-- > 1;) reach[k - 1] = std::min(1.0, sum += p[k]);
  return reach;
}

}  // namespace odrpo
