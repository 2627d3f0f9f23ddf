// From a plan to its runs: every combination of the grid, for every seed.
#pragma once
#include <string>
#include <vector>

#include "config/plan/plan.hpp"
#include "config/suite.hpp"

namespace odrpo {

/// The runs in canonical order: entry of `zip`, env, rater, policy, estimator, votes, axes in suite order, seed (the last changes fastest),
/// of which those that match a glob are kept (all when there is none). Failure `limits` when the grid has more than [limits] runs allows,
/// before anything is made; Failure `suite` when a glob matches nothing.
Suite expand(const Plan& plan, const std::vector<std::string>& only);

}  // namespace odrpo
