// A judge on a latent scale fitted to a table of scores (docs/raters.md).
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "envs/judge/latent/moments.hpp"
#include "envs/rater/latent_scale.hpp"
#include "envs/rater/outliers.hpp"
#include "kernels/shared/score_table.hpp"

namespace odrpo {

struct LatentFit;

struct LatentFitOptions {
  std::vector<std::uint32_t> prompts;  ///< indices of the prompts to fit, increasing; empty = all
  bool intervals = true;               ///< standard errors and intervals too; the judge is the same without them
  std::uint64_t seed = 1;              ///< of the simulated scores and of the resamples behind errors
  bool outliers = true;                ///< look for outliers
  const LatentFit* whole = nullptr;    ///< where this is a part of a table: its fit, whose kinds of outliers are estimated anew, no others
};

/// One of the four numbers of LatentScale, or an outlier's share.
struct LatentParameter {
  double value = 0;
  bool fitted = false;
  double error = 0;          ///< standard error; NaN: not fitted, not asked for, at the bound 0, or fewer than 10 prompts
  double low = 0, high = 0;  ///< 95 % interval; NaN: not fitted, not asked for, or fewer than 10 prompts
  bool at_end = false;       ///< it stopped at the end of what is looked at (not at 0), and may lie beyond
  std::string reason;        ///< why it is not fitted, a clause without a full stop; empty for a fitted one
};

/// A judge on a latent scale with its outliers.
struct LatentModel {
  LatentScale judge;
  Outliers outliers;
};

struct LatentFit {
  LatentScale judge;  ///< thresholds: each judge gives its levels as often as in the table
  Outliers outliers;  ///< beside it; all 0 where the scores show none
  LatentParameter prompt_share, sigma, spread, judge_sigma;
  std::array<LatentParameter, all_outliers.size()> outlier;  ///< of each kind
  /// The model with, or without, outliers that was not chosen, where its moments of rows fit too; with outliers, only where the likelihood rose by
  /// more than half of what is needed.
  std::optional<LatentModel> other;
  Moments observed{}, simulated{};                           ///< with those of rows; NaN = undefined
  double distance = 0;              ///< sum of squared differences of the moments over their tolerances
  std::uint32_t prompts = 0, responses = 0,
                scores = 0;  ///< looked at: of a table with more than 300,000 scores, a random choice of prompts
  int evaluations = 0;       ///< simulated tables
};

/// The judge whose simulated scores have the moments of the table (simulated moments). Each moment counts by the tolerance of
/// goodness_of_fit. Outliers are looked for by likelihood (fit_outliers), and the judge is fitted beside those that are found. Missing and
/// unreadable answers are left out. The same bits everywhere.
/// Throws Failure(Exit::bad_input) where nothing can be fitted: a scale of one level, more than most_judges judges, no response with
/// two scores from judges that give more than one level, no prompt in which scores differ.
LatentFit fit_latent_scale(const ScoreTable& table, const LatentFitOptions& options = {});

}  // namespace odrpo
