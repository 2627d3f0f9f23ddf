// Scores by thresholds: a 31-bit word scores 1 + the number of thresholds it exceeds.
#include "envs/rate.hpp"
#include "kernels/simd.hpp"

namespace odrpo::ODRPO_ISA {

// How many of a row's thresholds lie below x; 8 thresholds a vector.
ODRPO_HD int exceeded(const std::int32_t* threshold, int stride, std::int32_t x) {
  const i32x8 word = {x, x, x, x, x, x, x, x};
  if (stride == 16) return count_true(word > load(threshold), word > load(threshold + 8));
  int n = 0;
  for (int k = 0; k < stride; k += 8) n += count_true(word > load(threshold + k));
  return n;
}

static void by_law(const RatedView& rated, const RateBatch& batch, const std::uint32_t* word, int blocks, const Seen& seen) {
  // scores are bytes, which may alias anything: what the loop needs is copied out of the structs first
  const int stride = rated.stride, rollouts = batch.rollouts;
  const std::uint32_t* rows = rated.row;
  const std::int32_t* threshold = rated.threshold;
  for (int b = 0; b < batch.batch; ++b) {
    const std::uint32_t* row = rows + static_cast<std::size_t>(batch.prompt[b]) * batch.width;
    const std::uint16_t* action = batch.action + static_cast<std::size_t>(b) * rollouts;
    const std::uint32_t* words = word + static_cast<std::size_t>(b) * blocks * 4;
    std::uint8_t* to = seen.score + static_cast<std::size_t>(b) * rollouts;
    for (int i = 0; i < rollouts; ++i)
      to[i] = static_cast<std::uint8_t>(1 + exceeded(threshold + row[action[i]], stride, static_cast<std::int32_t>(words[i] >> 1)));
  }
}

// The vote of n scores 1..K given in order of drawing.
ODRPO_HD int majority(const std::uint8_t* votes, int n, int levels, TieRule tie) {
  if (n == 1) return votes[0];
  std::uint16_t count[128];
  for (int k = 1; k <= levels; ++k) count[k] = 0;
  for (int v = 0; v < n; ++v) ++count[votes[v]];
  int most = 0;
  for (int k = 1; k <= levels; ++k) most = count[k] > most ? count[k] : most;
  if (tie == TieRule::first) {
    for (int v = 0; v < n; ++v)
      if (count[votes[v]] == most) return votes[v];
  }
  int winner = 0;
  for (int k = 1; k <= levels; ++k)
    if (count[k] == most && (winner == 0 || tie == TieRule::highest)) winner = k;
  return winner;
}

static void by_draws(const RatedView& rated, const RateBatch& batch, const RandomStages& random, std::uint64_t key, Purpose purpose,
                     std::uint32_t step, std::uint32_t first_block, std::uint32_t* scratch, const Seen& seen) {
  const int blocks = (rated.votes + 3) / 4;
  std::uint8_t votes[1024];
  for (int b = 0; b < batch.batch; ++b) {
    random.fill(scratch, key, purpose, step, batch.prompt + b, 1, first_block, batch.rollouts * blocks);
    const std::uint32_t* of_prompt = rated.row + static_cast<std::size_t>(batch.prompt[b]) * batch.width;
    for (int i = 0; i < batch.rollouts; ++i) {
      const std::int32_t* t = rated.threshold + of_prompt[batch.action[b * batch.rollouts + i]];
      const std::uint32_t* words = scratch + static_cast<std::size_t>(i) * blocks * 4;
      for (int v = 0; v < rated.votes; ++v)
        votes[v] = static_cast<std::uint8_t>(1 + exceeded(t, rated.stride, static_cast<std::int32_t>(words[v] >> 1)));
      seen.score[b * batch.rollouts + i] = static_cast<std::uint8_t>(majority(votes, rated.votes, rated.levels, rated.tie));
    }
  }
}

extern const RateStages rate_table;
const RateStages rate_table = {by_law, by_draws};

}  // namespace odrpo::ODRPO_ISA
