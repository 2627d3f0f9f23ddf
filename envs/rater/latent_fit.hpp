// A judge on a latent scale fitted to a table of scores (docs/raters.md).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "envs/rater/latent_scale.hpp"
#include "kernels/score_table.hpp"

namespace odrpo {

struct LatentFitOptions {
  std::vector<std::uint32_t> prompts;  ///< indices of the prompts to fit, increasing; empty = all
  bool intervals = true;               ///< errors and intervals too; without them the fit takes about half the time
  std::uint32_t responses = 40'000;    ///< a table with more: every n-th prompt is looked at (frequencies of levels are counted in all)
};

/// One of the four numbers of LatentScale.
struct LatentParameter {
  double value = 0;
  bool fitted = false;
  double error = 0;          ///< standard error
  double low = 0, high = 0;  ///< 95 % interval
  std::string reason;        ///< why it is not fitted, a clause without a full stop; empty for a fitted one
};

struct LatentFit {
  LatentScale judge;  ///< thresholds: each judge gives its levels as often as in the table
  LatentParameter prompt_share, sigma, spread, judge_sigma;
  double log_likelihood = 0;
  std::uint32_t prompts = 0, responses = 0;  ///< with scores, looked at
  int evaluations = 0;                       ///< of the likelihood
};

/// The judge under which the table's scores are likeliest. Answers that could not be read and missing ones are left out. The same bits
/// everywhere. Throws Failure(Exit::bad_input) where nothing can be fitted: a scale of one level, more than 64 judges, no response with two
/// scores, no prompt in which scores differ, or no judge that gives two different levels.
LatentFit fit_latent_scale(const ScoreTable& table, const LatentFitOptions& options = {});

}  // namespace odrpo
