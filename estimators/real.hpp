// Estimators on one group of real rewards, in double without allocation: what a step uses for votes by mean and for groups with gaps.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "estimators/compat.hpp"
#include "estimators/estimator.hpp"
#include "estimators/real_group.hpp"

namespace odrpo {

/// Largest group of the batch forms.
inline constexpr int most_rollouts = 255;

/// One estimator made ready for groups of up to most_rollouts rewards in 0..levels. The definition is advantages() of
/// estimators/definition.hpp. Copies share its tables.
class RealEstimator {
 public:
  /// `rollouts`: the usual size, for which the levels' shares are tabled. Throws Failure as convention_of().
  RealEstimator(const EstimatorConfig& config, int levels, int rollouts);
  /// The median of rule `running`.
  void set_median(double median) { view_.running = median; }
  /// Advantages of one group: reward[n] to out[n], 0 <= n <= most_rollouts, no NaN.
  void operator()(const double* reward, int n, double* out) const;

  /// The same as data, for another processor; and its tables, which live as long as the estimator or a copy of it.
  const RealView& view() const { return view_; }
  std::span<const double> along() const { return tables_->along; }
  std::span<const LevelCount> counts() const { return tables_->counts; }

 private:
  struct Tables {
    std::vector<double> along;
    std::vector<LevelCount> counts;
  };
  std::shared_ptr<const Tables> tables_;
  RealView view_;
};

}  // namespace odrpo
