// What a fit compares: statistics of a table of scores that a judge on a latent scale must give again.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/score_table.hpp"

namespace odrpo {

/// Statistics over prompts. Those of PromptStatistics first.
enum class Moment : int {
  median_w,       ///< median over prompts of Kendall's W
  mean_w,         ///< its mean
  flip,           ///< mean over prompts of the share of flips
  tie,            ///< of the share of ties
  constant_rows,  ///< share of responses with two scores or more whose scores are all equal
  row_sd,         ///< mean over these responses of the standard deviation (ddof 1), levels
  judge_row_sd,   ///< the same over (response, judge) where the judge scored the response twice or more
  prompt_share,   ///< variance of prompts' mean scores over variance of responses' mean scores
};
inline constexpr int moment_count = 8;
using Moments = std::array<double, moment_count>;  ///< NaN = undefined

/// What one prompt adds to each moment.
struct PromptMoments {
  double w = 0, flip = 0, tie = 0;          ///< NaN = undefined
  double rows = 0, constant = 0, sd = 0;    ///< rows with two scores or more: how many, of which constant, sum of deviations
  double judge_rows = 0, judge_row_sd = 0;  ///< (response, judge) with two scores or more: how many, sum of deviations
  double means = 0, sum = 0, squares = 0;   ///< responses with scores: how many, sum and squares of their mean scores
};

std::vector<PromptMoments> prompt_moments(const ScoreTable& table);

/// Over the prompts with these indices (any may be given several times).
Moments moments_of(std::span<const PromptMoments> prompts, std::span<const std::uint32_t> which);
Moments moments_of(const ScoreTable& table);

}  // namespace odrpo
