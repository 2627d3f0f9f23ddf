// A judge learned from repeated scores: the pooled empirical channel, and the world its scores came from (docs/raters.md).
#pragma once
#include "envs/rater/rater.hpp"
#include "kernels/score_table.hpp"

namespace odrpo {

inline constexpr int thin_row = 20;  ///< a level that fewer responses have is smoothed

/// What a table of scores tells about its judge.
struct EmpiricalJudge {
  Confusion channel;               ///< row = true level (a response's mean score, a half rounds up), column = score
  WorldProfile world;              ///< moments of the response means, in levels of 1..10 as profiles are stated
  double pooled_sd = 0;            ///< sd of a score around its response's mean, levels (N - 1 in the denominator)
  std::vector<long> rows;          ///< [K] responses of each true level, of those with two samples or more
  std::vector<std::uint8_t> thin;  ///< [K] 1 = fewer than thin_row of them: half a count of a lattice Gaussian of pooled_sd was added
};

/// All scores that could be read, whichever judge gave them, as those of one judge of table.levels() levels. The channel is learned from the
/// responses with two of them or more, the world from all. Throws Failure(Exit::bad_input) when K is 1, or no response has two.
EmpiricalJudge learn_judge(const ScoreTable& table);

}  // namespace odrpo
