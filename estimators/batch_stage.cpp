// Computes advantages of batches of groups of integer scores by estimators/group/group.hpp, faster for usual group sizes. Whitens batches.
#include "estimators/batch.hpp"
#include "estimators/group/by_levels.hpp"
#include "estimators/group/by_sums.hpp"
#include "estimators/group/group.hpp"
#include "kernels/simd.hpp"

namespace odrpo::ODRPO_ISA {

// Sets reached[k] to the number of members with score >= k, for k = 0..levels + 1.
template <int fixed>
static inline void count_scores(const std::uint8_t* score, int rollouts, int levels, std::uint8_t* reached) {
  reached[0] = static_cast<std::uint8_t>(members<fixed>(rollouts));
  for (int block = 0; block < (levels + 1 + 15) / 16; ++block) {
    const u8x16 counts = count_reach<fixed>(score, rollouts, 16 * block);
    __builtin_memcpy(reached + 1 + 16 * block, &counts, 16);
  }
}

// A group (estimators/group/entries.hpp) whose entries are its members in any order. That is faster than an entry per score: members are
// fewer, and their number is a compile-time constant for usual sizes.
template <int fixed>
struct EachMember {
  const std::uint8_t* score;
  int rollouts;
  constexpr int first() const { return 0; }
  constexpr int end() const { return fixed > 0 ? fixed : rollouts; }
  constexpr int next(int i) const { return i + 1; }
  constexpr int value(int i) const { return score[i]; }
  constexpr int reach(int i) const { return end() - i; }
};
// Forms that divide by the deviation of the other members or by distances.
template <int fixed>
static inline void groups_by_members(const EstimatorView& e, const std::uint8_t* score, int groups, float* out) {
  const int n = members<fixed>(e.rollouts);
  for (int g = 0; g < groups; ++g, score += n, out += n)
    group::scale<group::WholeNumbers>(e, EachMember<fixed>{score, n}, group::Array<float>{out});
}

// Any form, for groups of any size: computes the advantage of every score from the counts, then looks up each member's.
static void by_counts(const EstimatorView& e, const std::uint8_t* score, int groups, float* out) {
  const int n = e.rollouts;
  std::uint8_t reached[max_levels + 17];
  float value[max_levels];
  for (int g = 0; g < groups; ++g, score += n, out += n) {
    count_scores<0>(score, n, e.levels, reached);
    group::estimate<group::WholeNumbers>(e, group::Scores{reached, e.levels}, group::Array<float>{value});
    for (int i = 0; i < n; ++i) out[i] = value[score[i]];
  }
}

typedef std::uint8_t wide_u8 __attribute__((vector_size(wide_lanes)));

// Lane l is 1 where mask[l] is not 0, else 0.
ODRPO_HD wide ones_where(const std::uint8_t* mask) {
  wide_u8 bytes;
  __builtin_memcpy(&bytes, mask, sizeof(bytes));
  return __builtin_convertvector((wide_u8)(bytes != 0) & 1, wide);
}

// Sum of f(x[i]) over i < n with a mask other than 0 (null = all): lane j adds elements j, j + 32, …; then the 32 lanes are added.
template <class F>
static inline float lane_sum(const float* x, const std::uint8_t* mask, int n, F f) {
  Lanes sum = zero_lanes();
  int i = 0;
  for (; i + 32 <= n; i += 32) {
    ODRPO_UNROLL
    for (int j = 0; j < 32 / wide_lanes; ++j) {
      const wide term = f(load_wide(x + i + wide_lanes * j));
      sum.v[j] += mask == nullptr ? term : ones_where(mask + i + wide_lanes * j) * term;
    }
  }
  if (i < n) {
    float lanes[32] = {}, weight[32] = {};
    for (int j = 0; i + j < n; ++j) {
      lanes[j] = x[i + j];
      weight[j] = mask == nullptr || mask[i + j] != 0 ? 1.0f : 0.0f;
    }
    for (int j = 0; j < 32 / wide_lanes; ++j) sum.v[j] += load_wide(weight + wide_lanes * j) * f(load_wide(lanes + wide_lanes * j));
  }
  return add_halves(sum);
}

// True if all x[i] with a mask other than 0 are equal (null = all).
static inline bool all_equal(const float* x, const std::uint8_t* mask, int n) {
  int i = 0;
  if (mask != nullptr) {
    while (i < n && mask[i] == 0) ++i;
    const int first = i;
    for (; i < n; ++i)
      if (mask[i] != 0 && x[i] != x[first]) return false;
    return true;
  }
  float low = x[0], high = x[0];
  if (n >= 8) {
    f32x8 lows = load(x), highs = lows;
    for (i = 8; i + 8 <= n; i += 8) {
      lows = min(lows, load(x + i));
      highs = max(highs, load(x + i));
    }
    for (int l = 0; l < 8; ++l) {
      low = lows[l] < low ? lows[l] : low;
      high = highs[l] > high ? highs[l] : high;
    }
  }
  for (; i < n; ++i) {
    low = x[i] < low ? x[i] : low;
    high = x[i] > high ? x[i] : high;
  }
  return low == high;
}

static void whiten(const Whitening& w, float* advantage, const std::uint8_t* mask, int n) {
  int count = n;
  if (mask != nullptr) {
    count = 0;
    for (int k = 0; k < n; ++k) {
      count += mask[k] != 0;
      advantage[k] = mask[k] != 0 ? advantage[k] : 0.0f;
    }
  }
  if (!w.on || n == 0) return;
  if (all_equal(advantage, mask, n)) {
    for (int k = 0; k < n; ++k) advantage[k] = 0;
    return;
  }
  const float mean = lane_sum(advantage, mask, n, [](wide x) { return x; }) * (1.0f / static_cast<float>(count));
  const float variance =
      lane_sum(advantage, mask, n, [mean](wide x) { return (x - mean) * (x - mean); }) * (1.0f / static_cast<float>(count - w.ddof));
  const float scale = whitening_scale(w, variance), inverse = scale > 0 ? 1.0f / scale : 0.0f, from = w.centred ? mean : 0.0f;
  if (mask == nullptr)
    for (int k = 0; k < n; ++k) advantage[k] = (advantage[k] - from) * inverse;
  else
    for (int k = 0; k < n; ++k) advantage[k] = mask[k] != 0 ? (advantage[k] - from) * inverse : 0.0f;
}

static void estimate(const EstimatorView& e, const std::uint8_t* score, int groups, float* out) {
  if (!e.ordered) return by_sums<false>(e, score, groups, out);
  if (e.basis == Basis::rank && e.rollouts <= most_ranked) return by_sums<true>(e, score, groups, out);
  if (e.basis == Basis::reward && is_mean(e.centre))
    return e.rollouts == 8    ? groups_by_members<8>(e, score, groups, out)
           : e.rollouts == 16 ? groups_by_members<16>(e, score, groups, out)
                              : groups_by_members<0>(e, score, groups, out);
  if (e.basis != Basis::level) return by_counts(e, score, groups, out);
  if (!group::in_halves(e))
    return e.rollouts == 8    ? groups_by_levels<8>(e, score, groups, out)
           : e.rollouts == 16 ? groups_by_levels<16>(e, score, groups, out)
                              : groups_by_levels<0>(e, score, groups, out);
  return e.rollouts == 8 ? groups_in_halves<8>(e, score, groups, out) : groups_in_halves<16>(e, score, groups, out);
}

extern const EstimatorStages estimator_table;
const EstimatorStages estimator_table = {estimate, whiten};

}  // namespace odrpo::ODRPO_ISA
