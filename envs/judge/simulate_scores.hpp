// Scores that a rater gives in its own world, as training meets them; and how many independent calls N of its calls are worth.
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

// How many independent calls N calls of a rater are worth.

struct EffectiveVotes {
  int votes = 1;
  double worth = 1;  ///< independent calls; NaN where scores have no error
};

/// The error variance of one call over that of the mean of N = 1, 2, 4, .., 32 calls, judges of a panel in turn. An error is what the true
/// quality and the judge do not explain of a score in the world of `key`: calls about a response share its bias, its ambiguity and each
/// judge's lasting error, so that N calls are worth fewer. What moves all responses of a prompt alike (offset, severity) orders none of
/// them and is left out; where each call draws its judge,
/// severity does order responses, and is an error. Take 10,000 responses or more.
std::vector<EffectiveVotes> effective_votes(RaterConfig rater, BanditConfig world, std::uint64_t key);

}  // namespace odrpo
