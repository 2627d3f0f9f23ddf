// The sums behind the statistics of a table of ratings.
#pragma once
#include <cstddef>

#include "envs/judge/agreement/score_sums.hpp"
#include "kernels/shared/score_table.hpp"

namespace odrpo {

/// Of all prompts; at most `most_units` units, fewer where there are many sums. One pass over the ratings for the mid-ranks of levels, one
/// for the sums.
ScoreSums sum_scores(const ScoreTable& table, std::size_t most_units);

}  // namespace odrpo
