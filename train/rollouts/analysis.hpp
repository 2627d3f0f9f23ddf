// Declares what the scores of a real training show: their levels, dead groups, how far estimators agree on the same groups, and whether length pays.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "estimators/compat.hpp"
#include "results/scores/rollouts/rollouts.hpp"
#include "results/stats/run_statistics.hpp"
#include "train/rollouts/rewards.hpp"

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

/// An estimator under a system's convention.
struct EstimatorConvention {
  std::size_t estimator;
  Compat compat;
};

struct RolloutAnalysis {
  RolloutStatistics<Estimate> statistics;
  std::vector<PeriodCounts> periods;  ///< as RolloutStatistics::period
  std::vector<StepCounts> steps;
  std::vector<std::string> estimators;                        ///< their texts
  std::vector<EstimatorConvention> conventions;               ///< of `rms`, by estimator
  std::vector<std::int64_t> nonzero;                          ///< [pairs] rows where neither advantage is 0
  std::array<std::int64_t, difficulty_bins> difficulty{};     ///< groups in each bin
  std::int64_t lone = 0, empty = 0;                           ///< groups of one reward, of none
  std::size_t units = 0;                                      ///< prompts, or groups of prompts, that the bootstrap draws
  std::vector<std::string> notes;                             ///< estimators that were left out and why
  double low = 0, high = 1;                                   ///< ends of the scale; of the rewards where there is none

  std::size_t pair(std::size_t i, std::size_t j) const;  ///< index of i < j in lists of pairs
};

struct RolloutAnalysisOptions {
  std::vector<EstimatorConfig> estimators;
  std::vector<std::string> texts;  ///< of `estimators`, for the report
  bool asked = false;              ///< the user asked for these: one that cannot be computed is a failure, not a note
  int resamples = 1000;            ///< 0 = no intervals
  std::uint64_t seed = 1;
};

/// Analyses the rollouts. Failure `limits` as GroupAdvantages has them, for estimators that were asked for.
RolloutAnalysis analyze_rollouts(const Rollouts& rollouts, const RolloutRewards& rewards, const RolloutAnalysisOptions& options);

/// The steps of the rollouts: groups [begin, end) of each.
std::vector<std::pair<std::size_t, std::size_t>> steps_of(const Rollouts& rollouts);

/// The first row of a step's groups, and how many rows they span.
std::pair<std::size_t, std::size_t> rows_of(std::span<const RolloutGroup> groups);

/// The largest group.
int largest_group(const Rollouts& rollouts);

}  // namespace odrpo
