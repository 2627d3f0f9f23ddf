// Rating a batch: the seen score of every rollout, by one draw from the vote's law or by literal votes.
#pragma once
#include <cstdint>

#include "envs/bandit/channel.hpp"
#include "kernels/isa.hpp"
#include "kernels/random.hpp"
#include "kernels/random_batch.hpp"

namespace odrpo {

/// A batch of rollouts to rate: B prompts x G rollouts.
struct RateBatch {
  const std::uint32_t* prompt;  ///< [B]
  const std::uint16_t* action;  ///< [B][G]
  int batch, rollouts, width;   ///< B, G, the world's row width
};

/// Where the rewards of a batch go: [B][G]. Whole scores (lowest..K, or no_score = 255) to `score`, real ones (NaN = missing) to `reward`.
struct Seen {
  std::uint8_t* score;
  float* reward;
};

/// The calls about a response: who asks which question (kernels/random.hpp). `block` = that of the first call.
struct CallWords {
  std::uint64_t key;
  Purpose purpose;  ///< vote or replica_vote
  std::uint32_t step, prompt, block;
};
/// Which of `judges` answers call n, where each call draws its judge: the question of the call's own word, asked for another purpose.
ODRPO_HD int drawn_judge(const CallWords& of, int n, int judges) {
  const Purpose purpose = of.purpose == Purpose::replica_vote ? Purpose::replica_vote_judge : Purpose::vote_judge;
  const Words4 w = draw(of.key, purpose, of.step, of.prompt, of.block + static_cast<std::uint32_t>(n / 4));
  return static_cast<int>(uniform_below(w.x[n % 4], static_cast<std::uint32_t>(judges)));
}

struct RateStages {
  /// The reward of every rollout from word[b][blocks*4] (one word a rollout) through the law's thresholds.
  void (*by_law)(const RatedView&, const RateBatch&, const std::uint32_t* word, int blocks, const Seen& seen);
  /// The same as the aggregate of N literal draws; words are draw(key, purpose, step, prompt, first_block + i ceil(N/4) + n/4).
  /// `scratch` holds rollouts * ceil(N/4) * 4 words. Returns how many of the draws are calls that were made: all, unless the rater stops.
  double (*by_draws)(const RatedView&, const RateBatch&, const RandomStages&, std::uint64_t key, Purpose purpose, std::uint32_t step,
                   std::uint32_t first_block, std::uint32_t* scratch, const Seen& seen);
};
const RateStages& rate_stages(Isa isa);

}  // namespace odrpo
