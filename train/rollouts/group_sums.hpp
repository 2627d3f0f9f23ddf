// Sums what rollout_analysis.hpp reports, prompt by prompt, so that a bootstrap over prompts needs no second pass over the rows.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "train/rollouts/advantages.hpp"
#include "train/rollouts/rewards.hpp"
#include "train/rollouts/rollout_statistics.hpp"

namespace odrpo {

/// Sums of one part of the training.
enum class PeriodSum : std::size_t {
  rows, present, reward,                                     // rows, those with a reward, their sum
  groups, mean, mean_square,                                 // groups with a reward, sums of their means less the least reward and of the squares of these
  compared, dead, squares, freedom, dead_levels, levels,     // groups of two or more
  of_three, outlier_high, outlier_low,
  length_reward, length_length, reward_reward,               // sums of products within groups, of rows with a length
  rank_length_reward, rank_length_length, rank_reward_reward,
  count
};

/// Where each sum stands in a row of sums.
struct SumLayout {
  std::size_t periods, estimators, conventions;
  std::size_t pairs() const { return estimators * (estimators - 1) / 2; }
  std::size_t at(std::size_t period, PeriodSum s) const { return period * static_cast<std::size_t>(PeriodSum::count) + static_cast<std::size_t>(s); }
  std::size_t square(std::size_t e) const { return at(periods, PeriodSum::rows) + e; }         ///< sum A^2
  std::size_t largest(std::size_t e) const { return square(estimators) + e; }                  ///< sum over groups of the largest A^2
  std::size_t weight(std::size_t e, std::size_t bin) const { return largest(estimators) + e * difficulty_bins + bin; }  ///< sum |A|
  std::size_t product(std::size_t pair) const { return weight(estimators, 0) + pair; }         ///< sum A B
  std::size_t turned(std::size_t pair) const { return product(pairs()) + pair; }
  std::size_t nonzero(std::size_t pair) const { return turned(pairs()) + pair; }
  std::size_t convention(std::size_t c) const { return nonzero(pairs()) + c; }                 ///< sum A^2
  std::size_t width() const { return convention(conventions); }
};

/// Statistics of the total of some units' sums.
void statistics_of(const SumLayout& layout, std::span<const double> total, RolloutStatistics<double>& out);

/// Adds the rewards and lengths of one group to the sums of its period, and to the counts of its step. Keeps buffers between groups.
class GroupSums {
 public:
  GroupSums(const Rollouts& rollouts, const RolloutRewards& rewards, const SumLayout& layout) : rollouts_(rollouts), rewards_(rewards), layout_(layout) {}
  /// `sums`: [layout.width()] of the group's unit.
  void add(const RolloutGroup& group, std::size_t period, std::span<double> sums, StepCounts& step, PeriodCounts& counts);
  /// Bin of difficulty of the group that was added last; -1 if it has no reward.
  int bin() const { return bin_; }

 private:
  void add_spread(std::span<double> sums, std::size_t period, StepCounts& step);
  void add_outlier(std::span<double> sums, std::size_t period);
  void add_length(std::span<double> sums, std::size_t period, PeriodCounts& counts);
  const Rollouts& rollouts_;
  const RolloutRewards& rewards_;
  const SumLayout& layout_;
  std::vector<double> present_, levels_;       // the group's rewards; increasing, as on the scale
  std::vector<double> long_reward_, length_;   // of rows with a length
  std::vector<double> reward_ranks_, length_ranks_;
  std::vector<std::uint32_t> order_;
  int bin_ = -1;
};

/// Adds the advantages of all estimators, at most most_compared, of one group. advantage[e]: [rows] those of estimator e.
void add_agreement(const SumLayout& layout, std::span<const std::vector<double>> advantage, const RolloutGroup& group, int bin, std::span<double> sums);

}  // namespace odrpo
