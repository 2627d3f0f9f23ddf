// The update field of groups whose scores come from a judge: what a channel of scores does to expectation, bias and noise of the gradient.
#pragma once
#include <span>
#include <vector>

#include "estimators/theory/setting.hpp"
#include "kernels/shared/judge_model.hpp"

namespace odrpo {

/// Levels are true ones, 1..K, drawn from p; the estimator sees scores 1..K. The policy has one logit for each level, so the gradient that
/// one group gives is g_j = (1/M) sum over its members i of A_i (1[level of i = j] - p_j). Members are independent given p and the kind of
/// their prompt, which all share.
struct ChannelField {
  std::vector<double> field;       ///< [levels] F_j: expected advantage of a member whose true level is j
  std::vector<double> bias;        ///< [levels] F_j less that of exact scores, either without its mean under p, which moves nothing
  std::vector<double> gradient;    ///< [levels] E g_j = p_j (F_j - sum over i of p_i F_i)
  std::vector<double> covariance;  ///< [levels][levels] of one group's g
  std::vector<double> snr;         ///< [levels] (E g_j)^2 / Var g_j; NaN where nothing varies
  std::vector<double> flips;       ///< [levels] P(a lower true level has the higher expected advantage); NaN where none is lower
  double all_snr = 0;              ///< |E g|^2 / trace of the covariance; NaN where nothing varies
  double all_flips = 0;            ///< of two levels drawn from p that differ
  double cosine = 0;               ///< of E g with the gradient of the expected value sum_j p_j R_j; NaN where either vanishes
};

/// The kinds of prompts have weights of sum 1. Flips: given the kind and the scores of the M - 1 companions, a member at true level j
/// expects a_j = sum over k of P(k | j) f_k; a level i < j, drawn with weight p_i, is above where a_i > a_j by more than rounding.
/// Sums over kinds and all histograms of scores. Failure `limits` as update_field(), before anything is summed.
ChannelField channel_field(const TheorySetting& setting, std::span<const double> p, std::span<const LevelChannel> kinds);
/// Elementary steps that it takes; its failures.
double channel_field_work(const TheorySetting& setting, std::size_t kinds);

/// The channel of exact scores: score = true level.
LevelChannel exact_channel(int levels);

}  // namespace odrpo
