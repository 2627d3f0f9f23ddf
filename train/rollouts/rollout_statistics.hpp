// Defines the statistics of a training's rollouts, and counts of its parts and steps.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace odrpo {

inline constexpr int difficulty_bins = 5;         ///< of a group's mean reward, of equal width from the lowest to the highest reward of the scale
inline constexpr int most_periods = 4;            ///< parts of the training with about equally many steps
inline constexpr double outlier_distance = 0.4;   ///< of the scale: how far an outlier is from the nearest other reward of its group
inline constexpr double most_beside = 0.25;       ///< of the scale: how far the others of such a group are apart at most, and one level at most
inline constexpr std::size_t most_compared = 24;  ///< estimators

/// Statistics of the rollouts, each a T: a number, or an Estimate. NaN where undefined.
template <class T>
struct RolloutStatistics {
  /// Of a part of the training.
  struct Period {
    T mean;                       ///< of the rewards of all rows
    T within;                     ///< standard deviation within groups: sqrt(sum of squares from group means / sum of (n - 1))
    T between;                    ///< standard deviation (ddof 1) of the means of groups
    T dead, dead_levels;          ///< share of groups of two or more whose rewards are all equal; share of their levels that all or none reach
    T outlier_high, outlier_low;  ///< share of groups of three or more with one outlier above, below
    T missing;                    ///< share of rows without a reward
    T pearson, spearman;          ///< correlation of reward and length within groups, pooled
    T slope;                      ///< reward per unit of length, within groups
  };
  std::vector<Period> period;  ///< [periods + 1] the last is the whole training
  std::vector<T> cosine;       ///< [pairs] sum A B / sqrt(sum A^2 sum B^2)
  std::vector<T> turned;       ///< [pairs] share of rows with A B < 0, of those where neither is 0
  std::vector<T> leverage;     ///< [estimators] share of sum A^2 that the largest |A| of each group carries
  std::vector<T> weight;       ///< [estimators][difficulty_bins] share of sum |A|
  std::vector<T> rms;          ///< [conventions] root mean square of A over the rows with a reward

  /// Calls visit(T&) for every statistic, always in the same order.
  template <class Visit>
  void each(Visit visit) {
    for (Period& p : period)
      for (T* x : {&p.mean, &p.within, &p.between, &p.dead, &p.dead_levels, &p.outlier_high, &p.outlier_low, &p.missing, &p.pearson, &p.spearman, &p.slope})
        visit(*x);
    for (auto* list : {&cosine, &turned, &leverage, &weight, &rms})
      for (T& x : *list) visit(x);
  }
};

/// Counts of a part of the training.
struct PeriodCounts {
  std::int64_t first_step = 0, last_step = 0, steps = 0, groups = 0, rows = 0, missing = 0;
  std::int64_t compared = 0, of_three = 0;  ///< groups of two or more rewards, of three or more
  std::int64_t with_length = 0;             ///< rows with a reward and a length
  std::vector<std::int64_t> level{};        ///< [K] rows on each level
};

/// What a step's groups show.
struct StepCounts {
  std::int64_t step = 0, rows = 0, compared = 0, dead = 0;  ///< rows with a reward; groups of two or more; dead ones
  double mean = 0, dead_levels = 0;                         ///< of the rewards; share of the levels of these groups
  std::vector<std::uint32_t> level{};                       ///< [K]
};

}  // namespace odrpo
