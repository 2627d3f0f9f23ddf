// How many independent calls N calls of a rater are worth.
#pragma once
#include <cstdint>
#include <vector>

#include "envs/bandit/world.hpp"
#include "envs/rater/rater.hpp"

namespace odrpo {

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
