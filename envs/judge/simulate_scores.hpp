// Scores that a rater gives in its own world, as training meets them.
#pragma once
#include <cstdint>
#include <vector>

#include "envs/bandit/world.hpp"
#include "envs/rater/rater.hpp"
#include "kernels/shared/score_table.hpp"

namespace odrpo {

struct SimulatedScores {
  ScoreTable table;             ///< P prompts x M responses; of a panel the judges are "1", "2", ...
  std::vector<double> quality;  ///< [P M] true quality, in levels
};

/// A world of the rater's own: P prompts x M responses on K levels, without features.
BanditConfig rated_world(int levels, int prompts, int responses);

/// N calls about each response of the bandit's world of `key`, rated call by call. Judges of a panel answer by the rater's `order`. An
/// answer that cannot be read for good is `unreadable` (policies drop and zero). `world.levels` are the rater's; features are left out. N
/// >= 1.
SimulatedScores simulate_scores(RaterConfig rater, BanditConfig world, int samples, std::uint64_t key);

}  // namespace odrpo
