// The weight and the normaliser of one ordinal level: the single copy that the definition and the batch stages share.
#pragma once
#include "estimators/estimator.hpp"
#include "kernels/math.hpp"
#include "kernels/portable.hpp"

namespace odrpo {

/// exp(-max(median - level, 0) / 2): how the weight gini-median damps levels below the group's median. In (0, 1].
ODRPO_HD double median_decay(double median, double level) { return median > level ? math::exp((level - median) * 0.5) : 1.0; }

/// Variance mu (1 - mu) of the indicator 1[r >= level] when `count` of `group` members reach the level: exact zero test, no cancellation.
ODRPO_HD double level_variance(int count, int group) {
  const double c = count, g = group;
  return c * (g - c) / (g * g);
}

/// w_k of a level k >= 1 (Paper eq. for the Gini and Gini-Median weights; docs/estimators.md). `variance` = level_variance(count, group),
/// `decay` = median_decay(median, level), read by gini_median alone. Levels k <= 0 weigh 0, except that uniform is 1 everywhere.
ODRPO_HD double level_weight(Weight weight, double level, double variance, double decay) {
  if (weight == Weight::uniform) return 1.0;
  if (!(level > 0)) return 0.0;
  if (weight == Weight::linear) return level;
  const double mixed = 4.0 * variance;
  return math::sqrt(level) * (0.1 + (weight == Weight::gini_median ? mixed * decay : mixed));
}

/// N_k of a level, without eps: sqrt(mu_k (1 - mu_k)) or mu_k.
ODRPO_HD double level_norm(Norm norm, int count, int group) {
  if (norm == Norm::maxrl) return static_cast<double>(count) / static_cast<double>(group);
  return math::sqrt(level_variance(count, group));
}

}  // namespace odrpo
