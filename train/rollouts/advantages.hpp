// Declares the advantages that an estimator gives the groups of a dump: groups of any size, real rewards, missing ones.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "estimators/batch.hpp"
#include "estimators/estimator.hpp"
#include "results/scores/reading.hpp"
#include "results/scores/rollouts/rollouts.hpp"

namespace odrpo {

/// True for forms that read levels (Basis::level, Basis::bit, and bnpo, which reads where a score lies on its scale). They need a scale.
bool reads_levels(const EstimatorConfig& config);

/// Advantages of groups under one estimator, groups of any size up to `largest`, missing rewards (NaN) left out and given 0.
/// Forms of rewards read rewards as they are, as a trainer does. Forms of levels read levels of the scale, which are worth its values.
class GroupAdvantages {
 public:
  /// `scale`: values of the levels, increasing; empty: real rewards without levels. `largest` is 1..most_scores. Throws Failure `limits` for forms of
  /// levels without a scale of two values or more, posterior and corrected estimators, other programs, running medians, and a config that
  /// compat_refusal() or formula_refusal() refuses.
  GroupAdvantages(const EstimatorConfig& config, std::span<const double> scale, int largest);

  /// Sets out[n] to the advantages of one group. Throws Failure `limits` for a form that reads more than its group, and for a reward off the scale of a form
  /// of levels.
  void group(std::span<const double> rewards, std::span<double> out);

  /// Sets the advantages of the groups of one step. rewards, length and out: [rows] of the dump, which the groups index. `length` is read by forms
  /// that read lengths alone, and may be empty for others. Failures as group(), and for a length that is missing or below 1.
  void step(std::span<const RolloutGroup> groups, std::span<const double> rewards, std::span<const double> length, std::span<double> out);

  const EstimatorConfig& config() const { return config_; }

 private:
  double worth(double reward) const;
  EstimatorConfig config_;
  std::vector<double> scale_;
  bool levels_;  // rewards are read as levels
  std::optional<BatchEstimator> estimator_;
  std::vector<double> seen_, advantage_;  // [largest], of the present group's rewards
  std::vector<double> batch_, made_;      // [groups][largest group of the step]
  std::vector<int> tokens_;
};

}  // namespace odrpo
