// Goodness of fit of a judge on a latent scale: does it predict the scores of prompts that it was not fitted to?
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "envs/judge/latent/fit.hpp"

namespace odrpo {

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
