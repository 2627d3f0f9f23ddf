// Rates a response in one GPU thread: by thresholds and one random word, or by votes drawn one by one. CPU version: rate_stage.cpp.
#pragma once
#include <cstdint>

#include "envs/rater/vote_counts.hpp"
#include "kernels/portable.hpp"
#include "kernels/random.hpp"
#include "kernels/shared/judge_model.hpp"

namespace odrpo::device {

/// Eight thresholds, read by two 16-byte loads: rows of thresholds start at multiples of eight.
struct Eight {
  std::int32_t x[8];
};
ODRPO_HD Eight load_eight(const std::int32_t* p) {
#if defined(__CUDA_ARCH__)
  const int4 a = __ldg(reinterpret_cast<const int4*>(p)), b = __ldg(reinterpret_cast<const int4*>(p) + 1);
  return {{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
#else
  Eight e;
  __builtin_memcpy(&e, p, sizeof e);
  return e;
#endif
}

/// Returns how many of the `stride` thresholds, which ascend, are below x.
ODRPO_HD int exceeded(const std::int32_t* threshold, int stride, std::int32_t x) {
  int n = 0, rest = stride;
  while (rest > 32) {  // the answer stays in [n, n + rest]
    const int half = rest / 16 * 8;
    n += threshold[n + half - 1] < x ? half : 0;
    rest -= half;
  }
  const std::int32_t* from = threshold + n;
  for (int k = 0; k < rest; k += 8) {
    const Eight e = load_eight(from + k);
    ODRPO_UNROLL
    for (int j = 0; j < 8; ++j) n += x > e.x[j] ? 1 : 0;
  }
  return n;
}

// Votes on one response in one thread: drawn one by one and counted, never stored. The same bits as by_draws() (rate_stage.cpp).

/// The number of votes for each score; that of score k is stored in at[k stride].
struct VoteCounts {
  std::uint32_t* at;
  int stride;
  constexpr std::uint32_t& operator[](int score) const { return at[score * stride]; }
};

/// The inputs for drawing all calls about one response: thresholds of one call's distribution, and the arguments of draw() (kernels/random.hpp).
struct Poll {
  const std::int32_t* threshold;  ///< row of thresholds for one call about the response
  int stride, votes, lowest, levels;
  int missing;  ///< the outcome of a call that cannot be read; -1 = none
  std::uint64_t key;
  Purpose purpose;
  std::uint32_t step, prompt, first_block;
};

/// Draws the votes and calls f(score) for each that can be read, in order, until f returns false.
template <class F>
ODRPO_HD void each_vote(const Poll& poll, F f) {
  for (int first = 0; first < poll.votes; first += 4) {
    Words4 four = draw(poll.key, poll.purpose, poll.step, poll.prompt, poll.first_block + static_cast<std::uint32_t>(first / 4));
    for (int v = first; v < first + 4 && v < poll.votes; ++v) {
      const int outcome = exceeded(poll.threshold, poll.stride, static_cast<std::int32_t>(four.x[0] >> 1));
      four = {{four.x[1], four.x[2], four.x[3], 0}};  // shifts instead of an index, which would need a stack
      if (outcome != poll.missing && !f(poll.lowest + outcome)) return;
    }
  }
}

/// The integer score that the aggregate makes of the votes; no_score if none can be read. `count` is scratch memory for scores 0..levels.
ODRPO_HD std::uint8_t score_of(const Poll& poll, Aggregate aggregate, TieRule tie, VoteCounts count) {
  for (int k = poll.lowest; k <= poll.levels; ++k) count[k] = 0;
  int n = 0;
  each_vote(poll, [&](int vote) {
    count[vote] += 1;
    n += 1;
    return true;
  });
  if (n == 0) return no_score;
  const auto first = [&](int most) {
    int score = no_score;
    each_vote(poll, [&](int vote) {
      if (static_cast<int>(count[vote]) == most) score = vote;
      return score == no_score;
    });
    return score;
  };
  return static_cast<std::uint8_t>(vote_counts::whole_score(count, n, poll.lowest, poll.levels, aggregate, tie, first));
}

/// The mean of the votes; NaN if none can be read.
ODRPO_HD float mean_of(const Poll& poll) {
  int n = 0, sum = 0;
  each_vote(poll, [&](int vote) {
    sum += vote;
    n += 1;
    return true;
  });
  return n > 0 ? static_cast<float>(static_cast<double>(sum) / n) : __builtin_nanf("");
}

}  // namespace odrpo::device
