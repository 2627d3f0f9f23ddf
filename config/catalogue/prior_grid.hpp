// Chooses the states (kinds of prompts) in a posterior estimator's model: those over which its prior can spread.
#pragma once
#include <algorithm>
#include <iterator>

#include "envs/bandit/believed.hpp"
#include "envs/rater/rater.hpp"
#include "estimators/estimator.hpp"

namespace odrpo {

/// Returns the states (kinds of prompts) for groups of `members` responses, each rated `votes` times. A prior that follows the policy also
/// gets states whose responses are more alike than in the world.
inline PromptGrid prior_grid(PriorRule prior, const BanditConfig& world, const RaterConfig& rater, int votes, int members) {
  constexpr int least_members = 8;  // smaller groups use the same states
  PromptGrid grid{.members = std::max(members, least_members), .error_variance = least_error_variance(world, rater, votes)};
  if (world.quality == QualityKind::integer) grid.qualities_per_level = 1;
  if (prior == PriorRule::following) grid.spread_scales.assign(std::begin(following_scales), std::end(following_scales));
  grid.moments = prior == PriorRule::moments;
  return grid;
}

}  // namespace odrpo
