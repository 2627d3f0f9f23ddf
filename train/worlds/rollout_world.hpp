// Declares how a world's true quality is drawn from the scores of a real training's completions.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "envs/bandit/config.hpp"
#include "envs/rater/rater.hpp"

namespace odrpo {

/// Draws the true quality of the world's responses, [P][A] in 1/16 level, from its posterior given the scores of config.groups by this judge: of one prompt
/// together, with the prior that fits all prompts (PriorFit). A prompt with fewer completions than the world has actions has them again and again, in their
/// order, with equal quality. One key gives one draw.
std::shared_ptr<const std::vector<std::uint16_t>> draw_rollout_world(const BanditConfig& config, const RaterConfig& judge, std::uint64_t key);

}  // namespace odrpo
