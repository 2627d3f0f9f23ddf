// Declares the priors over kinds of prompts that fit the windows of a dump, and how far their scores differ from those of the dump.
#pragma once
#include <cstdint>
#include <vector>

#include "estimators/posterior/posterior.hpp"
#include "train/rollouts/judged_scores.hpp"
#include "train/rollouts/quality_posterior.hpp"

namespace odrpo {

struct JudgedPriors {
  std::vector<StatePrior> fitted;              ///< [windows]
  /// [draws][windows]: each fits a resample of the window's prompts with all their groups, so that draws differ as far as the prompts leave the prior open.
  std::vector<std::vector<StatePrior>> drawn;
  double misfit = 0;                           ///< total variation distance of the scores and those that the fitted priors expect
};
JudgedPriors fit_judged_priors(QualityPosterior& posterior, const JudgedScores& scores, int draws, std::uint64_t seed);

/// How often each group counts in a resample of prompts: prompt[groups] says whose group it is. Numbers of the groups' prompts are drawn in the order of their
/// first groups.
std::vector<double> times_of_groups(const std::vector<std::uint32_t>& prompt, UniformStream& random);

/// The scores of a group as numbers of the model; missing ones are left out.
std::vector<int> numbers_of(const ScoreModel& model, std::span<const int> levels);

}  // namespace odrpo
