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
#include "train/rollouts/rollout_statistics.hpp"

namespace odrpo {

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
