// What a posterior estimator believes as a run begins: posterior scores of one group (`compute`, `explain`), and its model
// (`export-estimator`).
#pragma once
#include <span>
#include <vector>

#include "envs/rater/rater.hpp"
#include "estimators/estimator.hpp"
#include "estimators/posterior/posterior.hpp"

namespace odrpo::app {

/// The model of a rater in the world that it brings, asked `votes` times about each of a group's responses. Failure `limits` where the distribution
/// of so many votes is too long.
ScoreModel first_score_model(const RaterConfig& rater, int levels, int votes, PriorRule prior, int members);

/// P(state) before the first batch.
StatePrior first_prior(const PromptStates& prompts, PriorRule prior);

/// Of a group: values, and what they leave open (GroupPosterior::values_and_variance()).
struct FirstScores {
  std::vector<double> values;
  double variance = 0;
};
/// Of integer scores 1..levels, one vote each: by a rater, in the world that it brings, under the prior that a run begins with. In double,
/// and equal where they differ by less than least_posterior_range.
FirstScores first_posterior_scores(const RaterConfig& rater, int levels, PriorRule prior, std::span<const int> scores);
/// The same of all votes of each response, 1..levels: NaN of a response without any. Calls of a panel: in turn, from its first judge.
std::vector<double> first_posterior_of_votes(const RaterConfig& rater, int levels, PriorRule prior,
                                             const std::vector<std::vector<int>>& votes);

}  // namespace odrpo::app
