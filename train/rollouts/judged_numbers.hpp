// Defines what is asked about a dump whose judge is known, and the numbers that answer it (train/rollouts/judged.hpp).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "envs/rater/rater.hpp"
#include "estimators/estimator.hpp"

namespace odrpo {

/// The judge whose scores are one column of a dump.
struct JudgeOfDump {
  std::string name{};           ///< as messages call it
  RaterConfig rater{};
  std::vector<double> values{};  ///< [K] the reward that each level stands for, increasing
  int votes = 1;                 ///< calls whose aggregate is a score of the dump
};

/// What judge_rollouts() computes.
struct JudgedOptions {
  JudgeOfDump judge;
  std::size_t column = 0;                      ///< of Rollouts::reward_names: the judge's; the others count as known parts of the truth
  std::vector<double> weight{};                ///< [columns]; empty = 1 each
  std::vector<EstimatorConfig> estimators{};   ///< posterior ones take the judge above as their model, and the prior that fits the dump
  std::vector<int> votes{2, 4, 8};             ///< votes of new scores
  bool all = false;                            ///< every step of a dump, however large
  int draws = 0;                               ///< truths drawn of each group; 0 = 4 to 16, by the size of the dump
  int resamples = 1000;
  std::uint64_t seed = 1;
};

/// A number with its 95 % interval; NaN = undefined. Of fewer than 10 prompts there is no interval.
struct JudgedNumber {
  double value, low, high;
};

/// How an estimator's advantages A relate to T = quality - mean quality of the group, all groups pooled.
struct JudgedAdvantages {
  /// Share of the responses with A != 0 and T != 0 whose signs differ. Shares of pairs of a group with different T whose A are in the other order; pairs of
  /// equal A count half. sum <A, T> / sqrt(sum |A|^2 sum |T|^2).
  JudgedNumber sign, pairs, cosine;
};

}  // namespace odrpo
