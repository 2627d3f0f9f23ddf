// Declares what a model of the judge says about a dump: how often advantages point away from true quality, and what more votes would change.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "envs/rater/rater.hpp"
#include "estimators/estimator.hpp"
#include "results/scores/rollouts/rollouts.hpp"

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
struct JudgedEstimator {
  EstimatorConfig config;
  std::string refusal{};                 ///< why nothing is computed; empty = it is
  std::vector<JudgedAdvantages> scores{};  ///< [JudgedRollouts::votes]
};

struct JudgedRollouts {
  std::string judge;
  std::vector<double> values;
  std::string column;                  ///< of the judge
  std::vector<std::string> known;      ///< other columns of a weight that is not 0
  std::size_t groups = 0, scores = 0, prompts = 0;  ///< groups with two scores or more; their scores; their prompts
  int draws = 0, resamples = 0;
  double misfit = 0;                   ///< total variation distance of the dump's scores and those that the model expects, after its prior is fitted
  std::vector<int> votes;              ///< the dump's own, then those of new scores
  std::vector<JudgedEstimator> estimators;
};

/// Draws true qualities of the responses of every group from their posterior given the group's scores, and compares advantages with them. Throws Failure
/// bad_input, with file:line, for a score that is not on the judge's scale; limits for a judge whose calls do not make one integer score, and for a dump in
/// which no group has two scores.
JudgedRollouts judge_rollouts(const Rollouts& rollouts, const JudgedOptions& options);

}  // namespace odrpo
