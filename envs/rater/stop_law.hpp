// Calls that are made one after the other until some score was given k times, at most N: the exact law of the score, and expected calls.
#pragma once
#include <span>

#include "envs/rater/rater.hpp"

namespace odrpo {

/// Law of the score that `rater`, which stops early (stops_early), makes of up to `votes` iid calls: out[k] = P(level k). A call is dropped
/// with probability `dropped` and says otherwise level k with pmf[k]; a dropped call counts towards N only, and the probabilities that are
/// left are that no score was read. Absolute error below 1e-12. Throws Failure(Exit::limits) like vote_law.
void stop_law(const RaterConfig& rater, std::span<const double> pmf, double dropped, int votes, std::span<double> out);

/// Expected number of such calls, repeated answers apart: `votes` where the rater does not stop early.
double stop_calls(const RaterConfig& rater, std::span<const double> pmf, double dropped, int votes);

/// Rough seconds of both, of `levels` scores.
double stop_seconds(const RaterConfig& rater, int levels, int votes);

}  // namespace odrpo
