// The states of prompts that a posterior estimator's model has: those that its prior can move among.
#pragma once
#include <algorithm>
#include <iterator>

#include "envs/bandit/believed.hpp"
#include "envs/rater/rater.hpp"
#include "estimators/estimator.hpp"

namespace odrpo {

/// Of groups of so many responses, about each of which the rater is asked `votes` times. A prior that follows the policy needs prompts whose
/// responses are more alike than the world's.
inline PromptGrid prior_grid(PriorRule prior, const BanditConfig& world, const RaterConfig& rater, int votes, int members) {
  constexpr int least_members = 8;  // smaller groups share the states of these
  PromptGrid grid{.members = std::max(members, least_members), .error_variance = least_error_variance(world, rater, votes)};
  if (world.quality == QualityKind::integer) grid.qualities_per_level = 1;
  if (prior == PriorRule::following) grid.spread_scales.assign(std::begin(following_scales), std::end(following_scales));
  grid.moments = prior == PriorRule::moments;
  return grid;
}

}  // namespace odrpo
