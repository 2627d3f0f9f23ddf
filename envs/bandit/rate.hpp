// Rating a batch: the seen score of every rollout, by one draw from the vote's distribution or by literal votes.
#pragma once
#include <cstdint>

#include "envs/bandit/channel.hpp"
#include "kernels/isa.hpp"
#include "kernels/random_batch.hpp"

namespace odrpo {

/// A batch of rollouts to rate: B prompts x G rollouts.
struct RateBatch {
  const std::uint32_t* prompt;  ///< [B]
  const std::uint16_t* action;  ///< [B][G]
  int batch, rollouts, width;   ///< B, G, the world's row width
};

/// Where the rewards of a batch go: [B][G]. Integer scores (lowest..K, or no_score = 255) to `score`, real ones (NaN = missing) to `reward`.
/// Votes that stay apart (keeps_votes) are scores of their own: [B][G][N].
struct Seen {
  std::uint8_t* score;
  float* reward;
  double* turn_calls = nullptr;  ///< [B][turns] of literal calls: those that the judges of each turn answered; null = not asked for
};

struct RateStages {
  /// The reward of every rollout from word[b][blocks*4] (one word a rollout) through the distribution's thresholds.
  void (*by_distribution)(const RatedView&, const RateBatch&, const std::uint32_t* word, int blocks, const Seen& seen);
  /// The same as the aggregate of N literal draws; words are draw(key, purpose, step, prompt, first_block + i ceil(N/4) + n/4).
  /// `scratch` holds rollouts * ceil(N/4) * 4 words. Returns how many of the draws are calls that were made: all, unless the rater stops.
  double (*by_draws)(const RatedView&, const RateBatch&, const RandomStages&, std::uint64_t key, Purpose purpose, std::uint32_t step,
                     std::uint32_t first_block, std::uint32_t* scratch, const Seen& seen);
};
const RateStages& rate_stages(Isa isa);

}  // namespace odrpo
