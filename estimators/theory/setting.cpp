// The definition of an advantage by level, and which settings have one.
#include "estimators/theory/setting.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "estimators/compat.hpp"
#include "estimators/definition.hpp"

namespace odrpo {

std::vector<double> plain_values(int levels) {
  std::vector<double> values(static_cast<std::size_t>(levels));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

std::optional<std::string> theory_refusal(const TheorySetting& s) {
  const EstimatorConfig& c = s.estimator;
  if (c.posterior) return "posterior estimators need a model of the judge: they are no function of the group's scores alone";
  if (c.form == Form::odrpo && reads_median(c.weight) && c.median == MedianRule::running)
    return "the running median comes from earlier batches: it is no function of the group";
  if (auto why = compat_refusal(c)) return why;
  if (s.levels() < 2 || s.levels() > most_theory_levels) return "2.." + std::to_string(most_theory_levels) + " levels are needed";
  if (s.members < 2 || s.members > most_theory_members)
    return "a group of 2.." + std::to_string(most_theory_members) + " members is needed";
  for (std::size_t k = 0; k < s.values.size(); ++k)
    if (!(math::abs(s.values[k]) <= 1e9) || (k > 0 && !(s.values[k] > s.values[k - 1])))
      return "the values of the levels must ascend, and stay within -1e9..1e9";
  return std::nullopt;
}

std::vector<double> level_gaps(std::span<const double> values) {
  std::vector<double> gaps(values.size(), 0.0);
  for (std::size_t k = 1; k < values.size(); ++k) gaps[k] = values[k] - values[k - 1];
  return gaps;
}

std::vector<double> group_advantages(const TheorySetting& s, std::span<const int> counts) {
  const std::size_t levels = counts.size();
  std::vector<double> rewards, advantage(levels, 0.0);  // rewards: values, or levels where the form compares levels
  const bool by_level = row_of(s.estimator.form).basis == Basis::level;
  for (std::size_t k = 0; k < levels; ++k)
    rewards.insert(rewards.end(), static_cast<std::size_t>(counts[k]), by_level ? static_cast<double>(k + 1) : s.values[k]);
  if (!by_level) {
    std::vector<double> out(rewards.size());
    advantages(s.estimator, 1, rewards, no_median, out);
    std::size_t member = 0;
    for (std::size_t k = 0; k < levels; member += static_cast<std::size_t>(counts[k++]))
      if (counts[k] > 0) advantage[k] = out[member];
    return advantage;
  }
  // Paper eq. of ODRPO with gaps: A_j = sum over k of Delta_k w_k (1[j >= k] - mu_k) / (N_k + eps)
  const LevelRule rule = level_rule(s.estimator);
  const std::vector<double> gaps = level_gaps(s.values);
  const int group = static_cast<int>(rewards.size());
  const double median = weight_median(s.estimator, rewards, no_median);
  for (std::size_t k = 1; k < levels; ++k) {
    const int level = static_cast<int>(k) + 1, count = count_from(rewards, level);
    const LevelShares shares = level_shares(rule, weight_of_level(s.estimator, level, count, group, median), count, group);
    for (std::size_t j = 0; j < levels; ++j)
      if (counts[j] > 0) advantage[j] += gaps[k] * (j >= k ? shares.reached : shares.missed);
  }
  return advantage;
}

}  // namespace odrpo
