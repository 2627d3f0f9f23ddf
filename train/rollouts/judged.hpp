// Declares what a model of the judge says about a dump: how often advantages point away from true quality, and what more votes would change.
#pragma once
#include <string>
#include <vector>

#include "estimators/estimator.hpp"
#include "results/scores/rollouts/rollouts.hpp"
#include "train/rollouts/judged_numbers.hpp"

namespace odrpo {

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
  std::size_t every_step = 1, every_group = 1;  ///< of a large dump they are those of every so many-th step, or every so many-th group
  int draws = 0, resamples = 0;
  double misfit = 0;                   ///< total variation distance of the dump's scores and those that the model expects, after its prior is fitted
  std::vector<int> votes;              ///< the dump's own, then those of new scores
  std::vector<JudgedEstimator> estimators;
};

/// Draws true qualities of the responses of every group from their posterior given the group's scores, and compares advantages with them. Throws Failure
/// bad_input, with file:line, for a score that is not on the judge's scale; limits for a judge whose calls do not make one integer score, and for a dump in
/// which no group has two scores.
JudgedRollouts judge_rollouts(const Rollouts& rollouts, const JudgedOptions& options);

/// Advantages [estimators][rows] that posterior estimators give the dump's own scores, under the prior that fits the dump; 0 for a row without a score, and
/// for one that is alone in its group. `options`: estimators are posterior ones; votes, draws, resamples and `all` are not read. Failures of judge_rollouts().
std::vector<std::vector<double>> posterior_advantages(const Rollouts& rollouts, const JudgedOptions& options);

}  // namespace odrpo
