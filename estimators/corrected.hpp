// Computes corrected scores: what each score counts so that the mean over a judge's errors is the true level (docs/corrected.md).
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "estimators/estimator.hpp"
#include "kernels/shared/judge_model.hpp"

namespace odrpo {

/// What the scores 1..K of a judge with the channel C_jk = P(score k | true level j) count: c = C^-1 R, so that the sum over k of C_jk c_k is
/// R_j, the value of the level: j unless the key `values` says otherwise. Source: arXiv 1810.01032 (wangjksjtu/rl-perturbed-reward); for
/// binary rewards arXiv 2510.18924 v3.
struct CorrectedScores {
  std::vector<double> score;  ///< [K] c_1..c_K
  double condition = 0;       ///< of the channel: its largest singular value over its least one; infinity if it is singular
  std::size_t bytes() const { return score.size() * sizeof(double); }
};

/// A channel with a larger condition number is refused: corrected scores would mostly amplify noise and errors of the channel.
inline constexpr double most_condition = 50;

/// Computes the corrected scores of channel[K][K] for values [K], empty = 1..K. Each row counts divided by its sum, P(there is a score).
CorrectedScores corrected_scores(std::span<const double> channel, std::span<const double> values = {});

/// The mean channel [K][K] of the kinds of prompts.
std::vector<double> mean_channel(std::span<const LevelChannel> kinds);

/// The reason why a corrected estimator cannot use the scores: a condition number above most_condition, scores that do not increase, or a
/// form that divides by the mean of scores below 0; nullopt if it can.
std::optional<std::string> correction_refusal(const EstimatorConfig& config, const CorrectedScores& scores);

/// The estimator without a judge that corrected(FORM) is: FORM, the levels of which are worth the corrected scores. Throws
/// Failure(Exit::limits) for a correction_refusal().
EstimatorConfig corrected_form(const EstimatorConfig& config, const CorrectedScores& scores);

/// How far E[c_k | quality] is from the value of the quality, as the largest difference over qualities.
struct CorrectionBias {
  double levels = 0, between = 0;  ///< of the mean over kinds of prompts and responses: at whole levels; at any quality
  double kinds = 0;                ///< root mean square over these kinds, at any quality
};
/// Computes it for the true channel of each kind of prompts and responses, with rows for the qualities 1, 1 + 1/per_level, .., K. `values`: of the levels,
/// empty = 1..K.
CorrectionBias correction_bias(const CorrectedScores& scores, std::span<const double> values, std::span<const LevelChannel> kinds, int per_level);

}  // namespace odrpo
