// Simulates scores of a rater in its own world, and computes how many independent calls N of its calls are worth.
#pragma once
#include <cstdint>
#include <vector>

#include "envs/bandit/world.hpp"
#include "envs/rater/rater.hpp"
#include "kernels/shared/score_table.hpp"

namespace odrpo {

/// Simulated scores, and the truth behind them.
struct SimulatedScores {
  ScoreTable table;             ///< P prompts x M responses; the judges of a panel have the names "1", "2", ...
  std::vector<double> quality;  ///< [P M] true quality, in levels
};

/// Returns the config of a world that takes its true quality from the rater: `prompts` prompts x `responses` responses, `levels` levels.
BanditConfig rated_world(int levels, int prompts, int responses);

/// Makes the world of random key `key` and draws `samples` >= 1 calls about each response. The judges of a panel answer by the rater's
/// `order`. With policies drop and zero, an answer that cannot be read is ScoreTable::unreadable in the table. `world.levels` must be the
/// rater's. The world gets no features.
SimulatedScores simulate_scores(RaterConfig rater, BanditConfig world, int samples, std::uint64_t key);

// How many independent calls N calls of a rater are worth.

/// The worth of `votes` calls about one response.
struct EffectiveVotes {
  int votes = 1;
  double worth = 1;  ///< number of independent calls whose mean has the same error variance; NaN where scores have no error
};

/// Returns, for N = 1, 2, 4, .., 32: (error variance of one call) / (error variance of the mean of N calls), in the world of random key `key`.
/// The error is the part of a score that true quality and the identity of the judge do not explain. Calls about a response share its bias,
/// its ambiguity and each judge's lasting error: N calls are therefore worth fewer than N independent ones. Severity towards a prompt moves
/// all its responses alike and does not count. A judge's severity counts only if each call goes to a random judge, because it then changes
/// the order of responses. Take 10,000 responses or more.
std::vector<EffectiveVotes> effective_votes(RaterConfig rater, BanditConfig world, std::uint64_t key);

}  // namespace odrpo
