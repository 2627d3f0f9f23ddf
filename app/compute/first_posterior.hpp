// Computes posterior scores of one group before a run's first batch (`compute`, `explain`). Builds the model of the judge that they need,
// also for `export-estimator`.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "envs/rater/rater.hpp"
#include "estimators/estimator.hpp"
#include "estimators/posterior/posterior.hpp"

namespace odrpo::app {

/// The catalogue rater `word`. Throws Refusal for an unknown word, and for a rater that fixes its own number of levels.
const RaterConfig& believed_rater(std::string_view word);

/// Makes the tables of the model that a posterior estimator has of a rater in that rater's own world. A response has one score, the
/// aggregate of `votes` calls; a group has `members` responses. Failure `limits` if the distribution of so many votes is too long.
ScoreModel first_score_model(const RaterConfig& rater, int levels, int votes, PriorRule prior, int members);

/// The prior before the first batch: the probability of each kind of prompt (state) in the model.
StatePrior first_prior(const PromptStates& prompts, PriorRule prior);

/// Posterior scores of the members of a group, in levels. `variance`: the mean over members of Var(quality - group mean | scores), levels^2.
struct FirstScores {
  std::vector<double> values;
  double variance = 0;
};
/// Computes the posterior scores of a group from scores[i] in 1..levels, the one score of response i. Uses the true model of the rater in its
/// own world, and the prior before the first batch. If all differ by less than least_posterior_range (1e-9 levels), makes them equal.
FirstScores first_posterior_scores(const RaterConfig& rater, int levels, PriorRule prior, std::span<const int> scores);
/// Computes the posterior scores of a group from all votes. `votes[i]` lists the votes of response i, 1..levels. Without votes: NaN.
/// Vote v of a panel comes from judge v modulo the number of judges.
std::vector<double> first_posterior_of_votes(const RaterConfig& rater, int levels, PriorRule prior,
                                             const std::vector<std::vector<int>>& votes);

}  // namespace odrpo::app
