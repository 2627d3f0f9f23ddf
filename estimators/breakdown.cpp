// Takes an estimator's answer for one group apart, with the parts that the definition is made of.
#include "estimators/breakdown.hpp"

#include <algorithm>

#include "estimators/definition.hpp"
#include "estimators/group/bits.hpp"
#include "estimators/level_values.hpp"

namespace odrpo {
namespace {

constexpr double undefined = no_median;  // NaN

/// What a member gets from one level or gap, and what the indicator was divided by. `weight` is the whole gap's.
void fill_shares(const EstimatorConfig& config, double weight, int group, LevelPart& part) {
  const LevelRule rule = level_rule(config);
  const LevelShares shares = level_shares(rule, weight, part.count, group);
  part.reached = shares.reached;
  part.missed = shares.missed;
  if (group == 1) part.norm = rule.single != 0 ? 1.0 / rule.single : undefined;
  else if (part.count == group || rule.divisor == Divisor::others_deviation) part.norm = undefined;
  else part.norm = level_divisor(rule, part.count, group);
}

LevelPart part_of(const EstimatorConfig& config, double low, double high, std::span<const double> rewards, double median) {
  const int group = static_cast<int>(rewards.size()), count = count_from(rewards, high);
  const auto value = [&](double score) { return config.values.empty() ? score : value_of_score(config.values, score); };
  LevelPart part{low, high, value(high) - value(low), count, static_cast<double>(count) / group, 0, undefined, 0, 0};
  if (count == 0) return part;
  const double weight = weight_of_gap(config, low, high, count, group, median);
  fill_shares(config, weight, group, part);
  if (part.reached != 0 || part.missed != 0) part.weight = weight / part.gap;
  return part;
}

LevelPart part_of_bit(const EstimatorConfig& config, int b, std::span<const double> rewards) {
  const int group = static_cast<int>(rewards.size());
  const auto has = [b](double r) { return bit_of(static_cast<int>(r), b) != 0; };
  const int count = static_cast<int>(std::count_if(rewards.begin(), rewards.end(), has));
  LevelPart part{b - 1.0, static_cast<double>(b), 1, count, static_cast<double>(count) / group, 0, undefined, 0, 0};
  if (count == 0) return part;
  fill_shares(config, bit_weight(b), group, part);
  if (part.reached != 0 || part.missed != 0) part.weight = bit_weight(b);
  return part;
}

}  // namespace

Breakdown break_down(const EstimatorConfig& config, int levels, std::span<const double> rewards, double median, double floor) {
  const Convention convention = convention_of(config);
  Breakdown b{{}, undefined, undefined, undefined, std::vector<double>(rewards.size())};
  advantages(config, levels, rewards, median, b.advantages, floor);
  if (rewards.empty()) return b;
  std::vector<double> worth(rewards.begin(), rewards.end());
  if (!config.values.empty()) {
    levels = static_cast<int>(config.values.size());
    for (double& r : worth) r = value_of_score(config.values, r);
  }
  b.mean = group_mean(worth);
  b.median = weight_median(config, rewards, median);
  if (row_of(config.form).basis == Basis::bit)
    for (int bit = 0; bit < bits_of(levels); ++bit) b.levels.push_back(part_of_bit(config, bit, rewards));
  const bool by_rewards = config.form == Form::grpo || (config.form == Form::odrpo && config.norm == Norm::grpo);
  if (by_rewards && convention.divisor == Divisor::deviation) b.deviation = group_deviation(worth, convention.ddof, floor);
  if (row_of(config.form).basis != Basis::level) return b;
  if (are_levels(rewards, levels)) {
    for (int k = 1; k <= levels; ++k) b.levels.push_back(part_of(config, k - 1, k, rewards, b.median));
    return b;
  }
  const std::vector<double> values = distinct_values(rewards);
  for (std::size_t gap = 1; gap < values.size(); ++gap)
    b.levels.push_back(part_of(config, values[gap - 1], values[gap], rewards, b.median));
  return b;
}

}  // namespace odrpo
