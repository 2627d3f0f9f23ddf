// The states of prompts that a posterior estimator's model has: those that its prior can move among.
#pragma once
#include <iterator>

#include "envs/bandit/believed_prompts.hpp"
#include "estimators/estimator.hpp"

namespace odrpo {

/// A prior that follows the policy needs prompts whose responses are more alike than the world's.
inline PromptGrid prior_grid(PriorRule prior, const BanditConfig& world) {
  PromptGrid grid;
  if (world.quality == QualityKind::integer) grid.qualities_per_level = 1;
  if (prior == PriorRule::following) grid.spread_scales.assign(std::begin(following_scales), std::end(following_scales));
  grid.moments = prior == PriorRule::moments;
  return grid;
}

}  // namespace odrpo
