// Declares how a world's true quality is drawn from the scores of a real training's completions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/spec.hpp"
#include "envs/bandit/config.hpp"
#include "envs/rater/rater.hpp"
#include "train/rollouts/quality_posterior.hpp"

namespace odrpo {

/// A model of the judge, and a prior over its kinds of prompts. All seeds of a world share them.
struct RolloutPrior {
  QualityPosterior posterior;
  StatePrior prior;
  std::size_t bytes() const { return posterior.bytes() + prior.probability().size() * sizeof(double); }
};
/// What the prior depends on, as a key of RunCache: all that describes the world and its judge, but not the seed.
std::string rollout_prior_key(const RunSpec& spec);
/// Fits the prior to the scores of all prompts of config.groups by this judge (PriorFit).
std::shared_ptr<const RolloutPrior> fit_rollout_prior(const BanditConfig& config, const RaterConfig& judge);

/// Draws the true quality of the world's responses, [P][A] in 1/16 level, from its posterior given the scores of config.groups: of one prompt
/// together, with the prior of fit_rollout_prior(). A prompt with fewer completions than the world has actions has them again and again, in their
/// order, with equal quality. One key gives one draw.
std::shared_ptr<const std::vector<std::uint16_t>> draw_rollout_world(const BanditConfig& config, const RolloutPrior& fitted, std::uint64_t key);

}  // namespace odrpo
