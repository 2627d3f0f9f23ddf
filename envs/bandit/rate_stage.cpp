// Draws rewards from rows of thresholds: the outcome is the number of thresholds below a random 31-bit word.
#include <type_traits>

#include "envs/bandit/sampled_judge.hpp"
#include "envs/bandit/rate.hpp"
#include "envs/rater/vote_counts.hpp"
#include "kernels/simd.hpp"

namespace odrpo::ODRPO_ISA {

// Returns how many thresholds are below x; compares 8 at a time. Long rows (means of many calls) are first halved by binary search.
ODRPO_HD int exceeded(const std::int32_t* threshold, int stride, std::int32_t x) {
  if (stride == 16) return count_below(threshold, x);
  const i32x8 word = {x, x, x, x, x, x, x, x};
  int n = 0, rest = stride;
  while (rest > 64) {  // thresholds ascend: the result stays in [n, n + rest]
    const int half = rest / 16 * 8;
    n += threshold[n + half - 1] < x ? half : 0;
    rest -= half;
  }
  const std::int32_t* from = threshold + n;
  for (int k = 0; k < rest; k += 8) n += count_true(word > load(from + k));
  return n;
}

template <class Rollouts, class Stride>
static inline void batch_by_distribution(const RatedView& rated, const RateBatch& batch, const std::uint32_t* word, int blocks, const Seen& seen,
                                         Rollouts rollouts, Stride stride) {
  // writes to bytes may alias any memory: the loop's inputs are copied out of the structs, so that they stay in registers
  const int lowest = rated.lowest, missing = rated.missing;
  const std::uint32_t* rows = rated.row;
  const std::int32_t* threshold = rated.threshold;
  const float* value = rated.value;
  for (int b = 0; b < batch.batch; ++b) {
    const std::uint16_t* action = batch.action + static_cast<std::size_t>(b) * rollouts;
    if (rated.expected) {
      const float* of_prompt = rated.expected + static_cast<std::size_t>(batch.prompt[b]) * batch.width;
      float* to = seen.reward + static_cast<std::size_t>(b) * rollouts;
      for (int i = 0; i < rollouts; ++i) to[i] = of_prompt[action[i]];
      continue;
    }
    const std::uint32_t* row = rows + static_cast<std::size_t>(batch.prompt[b]) * batch.width;
    const std::uint32_t* words = word + static_cast<std::size_t>(b) * blocks * 4;
    const auto outcome = [&](int i) { return exceeded(threshold + row[action[i]], stride, static_cast<std::int32_t>(words[i] >> 1)); };
    if (value) {
      float* to = seen.reward + static_cast<std::size_t>(b) * rollouts;
      for (int i = 0; i < rollouts; ++i) to[i] = value[outcome(i)];
      continue;
    }
    std::uint8_t* to = seen.score + static_cast<std::size_t>(b) * rollouts;
    for (int i = 0; i < rollouts; ++i) to[i] = static_cast<std::uint8_t>(lowest + outcome(i));
    if (missing < 0) continue;
    for (int i = 0; i < rollouts; ++i)
      if (to[i] == lowest + missing) to[i] = no_score;
  }
}

// For groups of 8 and up to 17 outcomes by constants, so that loops over them are unrolled.
static void by_distribution(const RatedView& rated, const RateBatch& batch, const std::uint32_t* word, int blocks, const Seen& seen) {
  if (batch.rollouts == 8 && rated.stride == 16)
    batch_by_distribution(rated, batch, word, blocks, seen, std::integral_constant<int, 8>{}, std::integral_constant<int, 16>{});
  else batch_by_distribution(rated, batch, word, blocks, seen, batch.rollouts, rated.stride);
}

// Counts the votes for each score lowest..K.
struct Counts {
  std::uint16_t of[128];
  int operator[](int score) const { return of[score]; }
};
static inline Counts count_votes(const std::uint8_t* votes, int n, int lowest, int levels) {
  Counts count;
  for (int k = lowest; k <= levels; ++k) count.of[k] = 0;
  for (int v = 0; v < n; ++v) ++count.of[votes[v]];
  return count;
}

// Returns the mode or median of n scores lowest..K, which are in the order drawn.
ODRPO_HD int whole_score(const RatedView& rated, const std::uint8_t* votes, int n) {
  if (n == 1) return votes[0];
  const Counts count = count_votes(votes, n, rated.lowest, rated.levels);
  const auto first = [&](int most) {
    int v = 0;
    while (count[votes[v]] != most) ++v;
    return static_cast<int>(votes[v]);
  };
  return vote_counts::whole_score(count, n, rated.lowest, rated.levels, rated.aggregate, rated.tie, first);
}

// Removes the calls that cannot be read from `votes`; returns how many are left.
ODRPO_HD int keep_readable(std::uint8_t* votes, int n, int missing) {
  int left = 0;
  for (int v = 0; v < n; ++v) {
    votes[left] = votes[v];
    left += votes[v] != missing;
  }
  return left;
}

// Draws the scores of the N calls about a response. Each call goes to the next judge in turn or to a random judge.
static void call_judges(const RatedView& rated, const std::uint32_t* row, const std::uint32_t* words, const CallWords& calls,
                        std::uint8_t* votes) {
  const auto score = [&](int turn, int v) {
    const std::int32_t* t = rated.threshold + row[static_cast<std::size_t>(turn) * rated.turn_rows];
    return static_cast<std::uint8_t>(rated.lowest + exceeded(t, rated.stride, static_cast<std::int32_t>(words[v] >> 1)));
  };
  if (rated.any_judge) {
    for (int v = 0; v < rated.votes; ++v) votes[v] = score(sampled_judge(calls, v, rated.turns), v);
    return;
  }
  for (int turn = 0; turn < rated.turns; ++turn)
    for (int v = turn; v < rated.votes; v += rated.turns) votes[v] = score(turn, v);
}

// Returns the number of calls until any score was given `stop` times; n if none was.
ODRPO_HD int calls_made(const std::uint8_t* votes, int n, int stop, int missing) {
  std::uint16_t count[128] = {};
  for (int v = 0; v < n; ++v)
    if (votes[v] != missing && ++count[votes[v]] == stop) return v + 1;
  return n;
}

// Copies all votes of a response in order; no_score for a vote that cannot be read.
static void keep_votes(const RatedView& rated, const std::uint8_t* votes, int unread, std::uint8_t* to) {
  for (int v = 0; v < rated.votes; ++v) to[v] = votes[v] == unread ? no_score : votes[v];
}

static double by_draws(const RatedView& rated, const RateBatch& batch, const RandomStages& random, std::uint64_t key, Purpose purpose,
                       std::uint32_t step, std::uint32_t first_block, std::uint32_t* scratch, const Seen& seen) {
  const int blocks = (rated.votes + 3) / 4, lowest = rated.lowest, missing = rated.missing;
  const bool real = rated.aggregate == Aggregate::mean && rated.votes > 1;
  std::uint8_t votes[1024];
  double calls = 0;
  if (seen.turn_calls)
    for (int i = 0; i < batch.batch * rated.turns; ++i) seen.turn_calls[i] = 0;
  for (int b = 0; b < batch.batch; ++b) {
    random.fill(scratch, key, purpose, step, batch.prompt + b, 1, first_block, batch.rollouts * blocks);
    const std::uint32_t* of_prompt = rated.row + static_cast<std::size_t>(batch.prompt[b]) * batch.width;
    for (int i = 0; i < batch.rollouts; ++i) {
      const int at = b * batch.rollouts + i;
      const std::uint32_t* row = of_prompt + batch.action[at];
      const std::uint32_t* words = scratch + static_cast<std::size_t>(i) * blocks * 4;
      call_judges(rated, row, words, {key, purpose, step, batch.prompt[b], first_block + static_cast<std::uint32_t>(i * blocks)}, votes);
      const int unread = missing < 0 ? -1 : lowest + missing;
      if (keeps_votes(rated.aggregate)) {
        keep_votes(rated, votes, unread, seen.score + static_cast<std::size_t>(at) * rated.votes);
        calls += rated.votes;
        continue;
      }
      const int made = rated.stop > 0 ? calls_made(votes, rated.votes, rated.stop, unread) : rated.votes;
      const int n = missing < 0 ? made : keep_readable(votes, made, unread);
      calls += made;
      if (seen.turn_calls)
        for (int v = 0; v < made; ++v) seen.turn_calls[b * rated.turns + v % rated.turns] += 1;
      if (real) {
        int sum = 0;
        for (int v = 0; v < n; ++v) sum += votes[v];
        seen.reward[at] = n > 0 ? static_cast<float>(static_cast<double>(sum) / n) : __builtin_nanf("");
        continue;
      }
      seen.score[at] = n > 0 ? static_cast<std::uint8_t>(whole_score(rated, votes, n)) : no_score;
    }
  }
  return calls;
}

extern const RateStages rate_table;
const RateStages rate_table = {by_distribution, by_draws};

}  // namespace odrpo::ODRPO_ISA
