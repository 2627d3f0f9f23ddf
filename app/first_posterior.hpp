// Posterior scores of one group, as a run begins: what `compute` and `explain` show.
#pragma once
#include <span>
#include <vector>

#include "envs/rater/rater.hpp"
#include "estimators/estimator.hpp"

namespace odrpo::app {

/// Of whole scores 1..levels, one vote each: by a rater, in the world that it brings, under the prior that a run begins with. In double,
/// and equal where they differ by less than least_posterior_range.
std::vector<double> first_posterior_scores(const RaterConfig& rater, int levels, PriorRule prior, std::span<const int> scores);
/// The same of all votes of each response, 1..levels: NaN of a response without any. Calls of a panel: in turn, from its first judge.
std::vector<double> first_posterior_of_votes(const RaterConfig& rater, int levels, PriorRule prior,
                                             const std::vector<std::vector<int>>& votes);

}  // namespace odrpo::app
