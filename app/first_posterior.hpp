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

}  // namespace odrpo::app
