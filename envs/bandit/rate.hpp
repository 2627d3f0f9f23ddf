// Rates a batch: each rollout gets its observed reward, by one draw from the aggregate's distribution or by votes drawn one by one.
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

/// Outputs of a batch, [B][G]: integer rewards in `score` (lowest..K, or no_score), real-valued ones in `reward` (NaN = missing).
/// Without an aggregate (keeps_votes) `score` has all votes, [B][G][N].
struct Seen {
  std::uint8_t* score;
  float* reward;
  double* turn_calls = nullptr;  ///< [B][turns] number of calls made to the judge of each turn, by by_draws(); null = not asked for
};

/// The functions of this file, one table per instruction set.
struct RateStages {
  /// Draws each rollout's reward from the aggregate's distribution: compares one random word with the thresholds. `word`, [B][blocks * 4], has
  /// one word for each rollout; `blocks` is the number of counter blocks of the random generator per prompt, of 4 words each.
  void (*by_distribution)(const RatedView&, const RateBatch&, const std::uint32_t* word, int blocks, const Seen& seen);
  /// Draws N votes for each rollout and aggregates them. Call n about rollout i uses word n % 4 of the random block
  /// draw(key, purpose, step, prompt, first_block + i ceil(N/4) + n/4). `scratch` holds rollouts * ceil(N/4) * 4 words.
  /// Returns the number of calls made: rollouts x N, unless the rater stops early.
  double (*by_draws)(const RatedView&, const RateBatch&, const RandomStages&, std::uint64_t key, Purpose purpose, std::uint32_t step,
                     std::uint32_t first_block, std::uint32_t* scratch, const Seen& seen);
};
const RateStages& rate_stages(Isa isa);

}  // namespace odrpo
