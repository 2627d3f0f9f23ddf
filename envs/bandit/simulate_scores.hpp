// Scores that a rater gives in its own world, as training meets them.
#pragma once
#include <cstdint>
#include <vector>

#include "envs/rater/rater.hpp"
#include "kernels/score_table.hpp"

namespace odrpo {

struct SimulatedScores {
  ScoreTable table;             ///< P prompts x M responses; of a panel the judges are "1", "2", ...
  std::vector<double> quality;  ///< [P M] true quality, in levels
};

/// N calls about each of M responses to P prompts on `levels` levels: the bandit's world of `key` with the rater's profile, rated call by
/// call. Judges of a panel answer in turn. An answer that cannot be read for good is `unreadable` (policies drop and zero). P, M, N >= 1.
SimulatedScores simulate_scores(RaterConfig rater, int levels, int prompts, int responses, int samples, std::uint64_t key);

}  // namespace odrpo
