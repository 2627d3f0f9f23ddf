// Posterior estimators as maps from a group's scores to advantages.
#pragma once
#include <vector>

#include "estimators/posterior/posterior.hpp"
#include "estimators/theory/bound.hpp"

namespace odrpo {

/// The map of a posterior estimator with such a model and prior, whose scores are 1..K.
std::vector<double> posterior_map(const EstimatorConfig& config, const ScoreModel& model, const StatePrior& prior, const HistogramIndex& index);

/// A prior that follows the policy at rest: after `rounds` steps of EM, P(state) <- mean over groups of P(state | group). One step moves it
/// as about 1 / (1 - keep) batches do.
StatePrior followed_prior(const ScoreModel& model, const UpdateMoments& moments, int rounds);

}  // namespace odrpo
