// Declares which whitening a word of `[learn] whiten` and of `rollouts estimate --whiten` asks for.
#pragma once
#include "config/spec.hpp"
#include "estimators/batch.hpp"

namespace odrpo {

/// `compat` is the whitening of the estimator's system, which fixes its own ddof and eps.
Whitening whitening_of(Whiten whiten, int ddof, double eps, const EstimatorConfig& estimator);

}  // namespace odrpo
