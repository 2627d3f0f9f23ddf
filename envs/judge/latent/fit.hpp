// A judge on a latent scale fitted to a table of scores (docs/raters.md); its outliers (outlier_fit.cpp), and how well it fits.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "envs/judge/latent/evidence.hpp"
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

// Which outliers a table of scores asks for, and how many: maximum likelihood, selected forward (docs/judge.md).

/// Parameters of a LatentScale that are estimated; the others stay as they are.
struct FreeParameters {
  bool prompt_share = true, spread = true, judge_sigma = true;
};

struct OutlierFit {
  bool chosen = false;                                     ///< false: the scores ask for none; the others are of the kind that came half way, if one did
  Outliers outliers;                                       ///< all 0 where none came half way
  LatentScale judge;                                       ///< beside them, by maximum likelihood; with thresholds of the judges that were looked at
  std::array<double, all_outliers.size()> low{}, high{};   ///< 95 % intervals over prompts; 0 where there are none
  std::array<std::array<double, all_outliers.size()>, all_outliers.size()> covariance{};  ///< of the estimated shares; NaN = not known
};

struct OutlierSearch {
  FreeParameters free;
  const Outliers* known = nullptr;                ///< these are estimated, from here on, and none is looked for; null = they are
  bool intervals = true;
  std::uint64_t seed = 1;  ///< of simulated scores and of the choice of prompts
};

/// Outliers beside the smooth judge `start`, which has been fitted to the table without them. Added one kind at a time, at most four: the
/// kind that raises 2 log likelihood most, by more than 10 + prompts / 10, where five responses or more have two calls far apart of which
/// one is at the outlier's level, and such pairs are not much rarer in the table than the judge with the outlier makes them. A random choice
/// of prompts with at most 10,000 scores is used, and of a large panel 64 / K judges, at least two, that share many responses. The same bits
/// everywhere.
OutlierFit fit_outliers(const ScoreTable& table, const LatentScale& start, const OutlierSearch& search);

// Goodness of fit of a judge on a latent scale: does it predict the scores of prompts that it was not fitted to?

/// A statistic of held-out prompts in the file and in 20 times as many simulated prompts.
struct CheckedMoment {
  double observed = 0, simulated = 0;  ///< NaN = undefined
  double error = 0;                    ///< sampling error (standard error over prompts) of observed
  double difference() const { return simulated - observed; }
};

enum class FitVerdict {
  holds,      ///< the difference, mean over both folds, is within the tolerance
  may_hold,   ///< beyond it, by less than two sampling errors
  misses,     ///< beyond it by more
  undefined,  ///< the statistic has no value
};

/// One line of the check.
struct CheckedStatistic {
  Moment moment{};
  std::string_view name;              ///< "median W"
  double tolerance = 0;               ///< moment_tolerance()
  std::array<CheckedMoment, 2> fold;  ///< each: fitted to the other half of the prompts
  CheckedMoment mean;                 ///< over the folds; error of the mean
  FitVerdict verdict = FitVerdict::undefined;
};

struct GoodnessOfFit {
  std::string reason;                      ///< why there is no check; empty where there is one
  std::vector<CheckedStatistic> lines;     ///< median and mean W, flips, ties, rows without spread, row deviation, then those of rows
  std::array<std::uint32_t, 2> prompts{};  ///< of each fold
  std::array<LatentScale, 2> judge;        ///< fitted to the other half
  std::array<Outliers, 2> outliers;
};

/// Two folds: prompts are split at random by the seed; `options.intervals` is ignored. Where options.whole is given, each half has its kinds
/// of outliers. Of a table with more than 600,000 scores,
/// a random choice of prompts is used. Never throws for what a table holds: where a half says too little, `reason` says so.
GoodnessOfFit goodness_of_fit(const ScoreTable& table, const LatentFitOptions& options = {});

}  // namespace odrpo
