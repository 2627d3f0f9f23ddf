// Fits a judge on a latent scale to a table of scores (docs/raters.md), finds its outliers (outlier_fit.cpp), and checks the fit.
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

/// Options of a fit.
struct LatentFitOptions {
  std::vector<std::uint32_t> prompts;  ///< indices of the prompts to fit, increasing; empty = all
  bool intervals = true;               ///< compute standard errors and intervals; they do not change the fitted judge
  std::uint64_t seed = 1;              ///< seed of the simulated scores, and of the resamples for standard errors
  bool outliers = true;                ///< look for outliers
  const LatentFit* whole = nullptr;    ///< for a part of a table: the fit of the whole table; only kinds of outliers found there are estimated
};

/// A fitted parameter: one of the four numbers of LatentScale, or the share of a kind of outlier.
struct LatentParameter {
  double value = 0;
  bool fitted = false;
  double error = 0;          ///< standard error; NaN: not fitted, no interval asked for, value at the bound 0, or fewer than 10 prompts
  double low = 0, high = 0;  ///< 95 % interval; NaN: not fitted, no interval asked for, or fewer than 10 prompts
  bool at_end = false;       ///< the search stopped at a bound other than 0; the true value may lie beyond
  std::string reason;        ///< why it is not fitted, a clause without a full stop; empty if it is fitted
};

/// A judge on a latent scale with its outliers.
struct LatentModel {
  LatentScale judge;
  Outliers outliers;
};

/// Result of a fit.
struct LatentFit {
  LatentScale judge;  ///< its thresholds give each judge's levels the frequencies of the table
  Outliers outliers;  ///< of the judge; all 0 where the scores show none
  LatentParameter prompt_share, sigma, spread, judge_sigma;
  std::array<LatentParameter, all_outliers.size()> outlier;  ///< shares of `outliers`, by kind
  /// The alternative to the result (with outliers if that has none, or the reverse), if its moments of rows also fit the table. An alternative
  /// with outliers must raise 2 log likelihood by more than half of what fit_outliers() demands.
  std::optional<LatentModel> other;
  Moments observed{}, simulated{};                           ///< moments of the table and of the judge's scores; NaN = undefined
  double distance = 0;              ///< sum over moments of ((simulated - observed) / tolerance)^2, weighted (fit.cpp)
  std::uint32_t prompts = 0, responses = 0,
                scores = 0;  ///< numbers that were used; of a table with more than 300,000 scores only random prompts are
  int evaluations = 0;       ///< number of tables that were simulated
};

/// Fits the judge whose simulated scores have nearly the moments of the table (method of simulated moments). Minimises the squares of
/// differences over moment_tolerance(). Then fit_outliers() looks for outliers by likelihood. If it finds some, the judge is fitted again.
/// Missing and unreadable answers are left out. The same bits on every machine.
/// Throws Failure(Exit::bad_input) where nothing can be fitted: a scale of one level; more than most_judges judges; no prompt in which
/// scores differ; no response with two scores from judges that give more than one level.
LatentFit fit_latent_scale(const ScoreTable& table, const LatentFitOptions& options = {});

// Finds kinds and shares of outliers in a table of scores, by maximum likelihood with forward selection (docs/judge.md).

/// Which parameters of a LatentScale are estimated. Sigma always is.
struct FreeParameters {
  bool prompt_share = true, spread = true, judge_sigma = true;
};

/// Result of the search for outliers.
struct OutlierFit {
  bool chosen = false;                                     ///< false: none found; the rest is then about the best rejected kind, if that was near
  Outliers outliers;                                       ///< all 0 if none was near: raised 2 log likelihood by over half of the demanded rise
  LatentScale judge;                                       ///< the judge with these outliers, by maximum likelihood; only the judges that were used
  std::array<double, all_outliers.size()> low{}, high{};   ///< 95 % intervals of the shares, from the scatter between prompts; 0 where there are none
  std::array<std::array<double, all_outliers.size()>, all_outliers.size()> covariance{};  ///< of the shares, [kind][kind]; NaN = not known
};

/// Options of the search for outliers.
struct OutlierSearch {
  FreeParameters free;
  const Outliers* known = nullptr;                ///< start from these shares and estimate only kinds that occur; null = search for kinds
  bool intervals = true;
  std::uint64_t seed = 1;  ///< seed of simulated scores
};

/// Searches for outliers, starting from a judge that was fitted to the table without any, `start`. Adds one kind at a time, at most four:
/// the kind that raises 2 log likelihood most, by at least 10 + prompts / 10. A kind needs five responses with two calls far apart
/// (far_levels()), one of them at the kind's level, if it has one. Pairs of calls like these must not be much rarer in the table than in
/// simulated scores with the outlier. Uses random prompts with at most 10,000 scores, and of a large panel max(2, 64 / K) judges that
/// scored many responses in common. The same bits on every machine.
OutlierFit fit_outliers(const ScoreTable& table, const LatentScale& start, const OutlierSearch& search);

// Goodness of fit: does a judge predict statistics of scores of prompts that it was not fitted to (two-fold cross-validation)?

/// One statistic of the held-out prompts: its value in the file, and in 20 tables of simulated scores of the same prompts.
struct CheckedMoment {
  double observed = 0, simulated = 0;  ///< NaN = undefined
  double error = 0;                    ///< standard error of `observed`, over prompts
  double difference() const { return simulated - observed; }
};

/// Does a statistic of the fitted judge agree with the file?
enum class FitVerdict {
  holds,      ///< |simulated - observed|, mean over both folds, is within the tolerance
  may_hold,   ///< the difference exceeds the tolerance by less than two standard errors
  misses,     ///< the difference exceeds the tolerance by more than that
  undefined,  ///< the statistic has no value
};

/// One statistic that is checked.
struct CheckedStatistic {
  Moment moment{};
  std::string_view name;              ///< "median W"
  double tolerance = 0;               ///< moment_tolerance()
  std::array<CheckedMoment, 2> fold;  ///< per half of the prompts: the judge was fitted to the other half
  CheckedMoment mean;                 ///< mean over the folds, with its standard error
  FitVerdict verdict = FitVerdict::undefined;
};

/// Result of the check.
struct GoodnessOfFit {
  std::string reason;                      ///< why there is no check; empty if there is one
  std::vector<CheckedStatistic> lines;     ///< median and mean W, flips, ties, constant rows, row sd, then the moments of rows
  std::array<std::uint32_t, 2> prompts{};  ///< number of prompts in each half
  std::array<LatentScale, 2> judge;        ///< the judge for each half, fitted to the other half
  std::array<Outliers, 2> outliers;
};

/// Splits the prompts into two random halves by the seed; fits a judge to each half and compares it with the other half. Ignores
/// options.intervals. With options.whole, only the kinds of outliers of that fit are estimated. Of a table with more than 600,000 scores,
/// uses random prompts. Does not throw bad_input: if a half cannot be fitted, `reason` says why.
GoodnessOfFit goodness_of_fit(const ScoreTable& table, const LatentFitOptions& options = {});

}  // namespace odrpo
