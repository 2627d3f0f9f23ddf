// Estimators on one group of real rewards, in double without allocation: what a step uses for votes by mean and for groups with gaps.
#pragma once
#include <vector>

#include "estimators/compat.hpp"
#include "estimators/estimator.hpp"

namespace odrpo {

/// Largest group of the batch forms.
inline constexpr int most_rollouts = 255;

/// A function along the levels that is constant inside each of them, by its running sums: its integrals cost O(1).
struct LevelSums {
  std::vector<double> step, sum;  ///< [levels + 2]: of level k, and of levels 1..k
  /// Integral from low to high, 0 <= low <= high; beyond the last level it goes on with one more step.
  double between(double low, double high) const;
};

/// One estimator made ready for groups of up to most_rollouts rewards in 0..levels. The definition is advantages() of
/// estimators/definition.hpp.
class RealEstimator {
 public:
  /// `rollouts`: the usual size, for which the levels' shares are tabled. Throws Failure as convention_of().
  RealEstimator(const EstimatorConfig& config, int levels, int rollouts);
  /// The median of rule `running`.
  void set_median(double median) { running_ = median; }
  /// Advantages of one group: reward[n] to out[n], 0 <= n <= most_rollouts, no NaN.
  void operator()(const double* reward, int n, double* out) const;

 private:
  struct Count {          // of a level that so many of a group reach
    LevelShares shares;   // per unit of weight
    double fixed, slope;  // level_mix = fixed + slope decay
  };
  struct Damping {  // of a group's median: the decay of levels up to `below` is `factor` e^(k/2), above it is 1
    double below, factor;
  };
  Count count_of(int count, int group) const;
  Damping damping_of(double median) const;
  double weight_of_gap(const Count& c, double low, double high, const Damping& damping) const;
  void ordinal(const double* reward, int n, double* out) const;
  void ranks(const double* reward, int n, double* out) const;
  void cardinal(const double* reward, int n, double* out) const;

  EstimatorConfig config_;
  Convention convention_;
  LevelRule rule_{};  // odrpo
  int rollouts_;
  double running_ = 0;
  std::vector<Count> counts_;  // [rollouts + 1]
  LevelSums shape_, grown_;    // of level_shape, and of level_shape e^(k/2)
};

}  // namespace odrpo
