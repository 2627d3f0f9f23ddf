// Computes advantages of batches of groups of integer scores by estimators/group/group.hpp, faster for usual group sizes. Whitens batches.
#include "estimators/batch.hpp"
#include "estimators/group/group.hpp"
#include "kernels/simd.hpp"

namespace odrpo::ODRPO_ISA {

typedef std::int8_t i8x16 __attribute__((vector_size(16)));
typedef std::uint8_t u8x16 __attribute__((vector_size(16)));
typedef float f32x2 __attribute__((vector_size(8)));
typedef float f32x4 __attribute__((vector_size(16)));
typedef double f64x2 __attribute__((vector_size(16)));
typedef std::int8_t i8x32 __attribute__((vector_size(32)));
typedef std::uint8_t u8x32 __attribute__((vector_size(32)));
constexpr int max_levels = 112;   // 100 levels, rounded up to a multiple of 16
constexpr int most_ranked = 127;  // members of the largest group whose doubled ranks are bytes

// The size of a group: the constant `fixed` for the usual sizes, else `rollouts` (`fixed` = 0).
template <int fixed>
static inline int members(int rollouts) {
  return fixed > 0 ? fixed : rollouts;
}

// Element i of the result is the number of members with score > from + i, for i = 0..15. Scores are below 128.
template <int fixed>
static inline u8x16 count_reach(const std::uint8_t* score, int rollouts, int from) {
  const i8x16 below = i8x16{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15} + static_cast<std::int8_t>(from);
  u8x16 n = {};
  for (int i = 0; i < members<fixed>(rollouts); ++i) n -= (u8x16)((below - below) + static_cast<std::int8_t>(score[i]) > below);
  return n;
}

// The number of levels that at least `least` members reach: the group's lower or upper median, depending on `least`.
ODRPO_HD int levels_reached_by(u8x16 reach, int least) {
  const i8x16 weight = reach >= (u8x16{} + static_cast<std::uint8_t>(least));
#if defined(__AVX2__)
  return __builtin_popcount(static_cast<unsigned>(_mm_movemask_epi8((__m128i)weight)));
#else
  int n = 0;
  for (int k = 0; k < 16; ++k) n -= weight[k];
  return n;
#endif
}

// What 16 levels add to the index of the group's median in EstimatorView::term.
ODRPO_HD int median_of_block(const EstimatorView& e, u8x16 reach) {
  int median = 0;
  if (e.lower_reach > 0) median += levels_reached_by(reach, e.lower_reach);
  if (e.upper_reach > 0) median += levels_reached_by(reach, e.upper_reach);
  return median;
}

// Forms of levels for groups of `fixed` = 8 or 16 members on at most 16 levels. All counts are in one register. The lower and upper half of
// the levels are summed in float, and added for eight members at a time. group::sum_halves computes the same for one group.
template <int fixed>
static inline void groups_in_halves(const EstimatorView& e, const std::uint8_t* score, int groups, float* out) {
  const int levels = e.levels, middle = levels / 2, stride = fixed + 1;
  alignas(16) std::uint8_t reach[16];
  float value[17];
  for (int g = 0; g < groups; ++g, score += fixed, out += fixed) {
    const u8x16 reached = count_reach<fixed>(score, fixed, 0);
    __builtin_memcpy(reach, &reached, 16);
    const float* term = e.term;
    if (e.class_size > 0) {
      term += static_cast<std::size_t>(median_of_block(e, reached)) * e.class_size;
    }
    const auto at = [&](int k) { return group::term_at<true>(term + 2 * k * stride, reach[k - 1]); };
    const auto keep = [&](int k, float sum) { value[k] = sum; };
    value[0] = 0;
    const float below = group::running_sums<float>(1, middle, at, keep), low = value[middle];
    const float above = group::running_sums<float>(middle + 1, levels, at, keep);
    ODRPO_UNROLL
    for (int i = 0; i < fixed; i += 8) {
      const i32x8 upper = load_bytes(score + i) > middle;
      const f32x8 own = gather(value, score + i, 8, 0.0f) - (upper ? splat(above) : splat(below));
      store(out + i, own + (upper ? splat(low - below) : splat(0.0f - above)));
    }
  }
}

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

// Forms of levels for groups of any size on any number of levels, as group::sum_at_once. The sums skip levels that all or none reach, which
// add 0. Eight groups have equally many levels, and take each step together, since a step waits for the one before.
template <int fixed>
static inline void groups_by_levels(const EstimatorView& e, const std::uint8_t* score, int groups, float* out) {
  const int n = members<fixed>(e.rollouts), stride = n + 1;
  const int medians = (e.lower_reach > 0) + (e.upper_reach > 0);
  std::uint8_t reach[8][max_levels + 16];
  double sum[8][max_levels], centre[8];
  const float* term[8];
  int low[8];
  for (int g = 0; g < groups; g += 8, score += 8 * n, out += 8 * n) {
    const int some = groups - g < 8 ? groups - g : 8;
    int width = 1;
    for (int j = 0; j < some; ++j) {
      std::uint8_t least = 255, most = 0;
      for (int i = 0; i < n; ++i) {
        const std::uint8_t s = score[j * n + i];
        least = s < least ? s : least;
        most = s > most ? s : most;
      }
      low[j] = least;
      width = most - least > width ? most - least : width;
    }
    for (int j = 0; j < some; ++j) {
      low[j] = low[j] + width < e.levels ? low[j] : e.levels - width;
      int median = medians * low[j];
      for (int k = 0; k < width; k += 16) {
        const u8x16 reached = count_reach<fixed>(score + j * n, n, low[j] + k);
        __builtin_memcpy(reach[j] + low[j] + k, &reached, 16);
        median += median_of_block(e, reached);
      }
      term[j] = e.term + static_cast<std::size_t>(median) * static_cast<std::size_t>(e.class_size);
    }
    for (int j = 0; j < some; ++j) {
      const float* level = term[j] + 2 * low[j] * stride;
      sum[j][low[j]] = low[j] > 0 ? 0.0 : -0.0;
      f64x2 sums = {};  // both sums of group::running_sums
      for (int k = low[j]; k < low[j] + width; ++k) {
        f32x2 both;
        __builtin_memcpy(&both, (level += 2 * stride) + 2 * std::size_t{reach[j][k]}, 8);
        sums += __builtin_convertvector(both, f64x2);
        sum[j][k + 1] = sums[0];
      }
      centre[j] = sums[1];
    }
    for (int j = 0; j < some; ++j) {
      const std::uint8_t* s = score + j * n;
      float* a = out + j * n;
      int i = 0;
      for (; i + 4 <= n; i += 4) {
        const f64x4 reached = {sum[j][s[i]], sum[j][s[i + 1]], sum[j][s[i + 2]], sum[j][s[i + 3]]};
        const f32x4 four = __builtin_convertvector(reached - centre[j], f32x4);
        __builtin_memcpy(a + i, &four, 16);
      }
      for (; i < n; ++i) a[i] = static_cast<float>(sum[j][s[i]] - centre[j]);
    }
  }
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

// Forms that need only sums of the group's rewards or ranks: exact integer sums, and group::factor() for eight groups at once.

// The number types of group::factor() for eight groups, one per lane of a vector.
struct EightGroups {
  using I = i32x8;
  using Wide = i32x8;
  using F = f32x8;
  using Scalar = float;
  static constexpr bool exact = true;
  ODRPO_HD F real(I x) { return __builtin_convertvector(x, F); }
  ODRPO_HD F all(Scalar x) { return splat(x); }
  ODRPO_HD F sqrt(F x) { return ODRPO_ISA::sqrt(x); }
  ODRPO_HD F choose(I which, F x, F y) { return which ? x : y; }
};

// Sets a[n] to the advantages of a group of n: (n score - sum) inverse.
template <int fixed, bool streaming>
static inline void centre_and_scale(const std::uint8_t* s, int rollouts, std::int32_t sum, float inverse, float* a) {
  const int n = members<fixed>(rollouts);
  int i = 0;
  ODRPO_UNROLL
  for (; i + 8 <= n; i += 8) {
    const f32x8 v = __builtin_convertvector(n * load_bytes(s + i) - sum, f32x8) * inverse;
    if (streaming) store_streaming(a + i, v);
    else store(a + i, v);
  }
  for (; i < n; ++i) a[i] = static_cast<float>(n * s[i] - sum) * inverse;
}

// The sums of neighbouring lanes: those of `a`, then those of `b`.
ODRPO_HD i32x8 add_pairs(i32x8 a, i32x8 b) {
  return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14) + __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
}

// What a comparison with `other` adds to the doubled rank of `own`.
ODRPO_HD u8x32 rank_beside(i8x32 own, i8x32 other) { return (u8x32)(other > own) - (u8x32)(other < own); }

// Sets rank[group][n] to the doubled ranks of the scores of `some` <= 8 groups: 1 for the lowest of all, 2 n - 1 for the highest. Writes up
// to 31 bytes more.
template <int fixed>
static inline void rank_groups(const std::uint8_t* score, int n, int some, std::uint8_t* rank) {
  const u8x32 least = u8x32{} + static_cast<std::uint8_t>(n);
  if (fixed > 0 && some == 8) {  // four groups of 8 or two of 16 at once: each member beside the next, the one after that, …
    for (int at = 0; at < 8 * n; at += 32) {
      u64x4 own;
      __builtin_memcpy(&own, score + at, 32);
      const u64x4 far = fixed == 16 ? __builtin_shufflevector(own, own, 1, 0, 3, 2) : own;
      u8x32 ranks = least;
      ODRPO_UNROLL
      for (int bits = 8; bits < 64; bits += 8) ranks += rank_beside((i8x32)own, (i8x32)(own >> bits | far << (64 - bits)));
      if (fixed == 16) {
        ranks += rank_beside((i8x32)own, (i8x32)far);
        ODRPO_UNROLL
        for (int bits = 8; bits < 64; bits += 8) ranks += rank_beside((i8x32)own, (i8x32)(far >> bits | own << (64 - bits)));
      }
      __builtin_memcpy(rank + at, &ranks, 32);
    }
    return;
  }
  alignas(32) std::int8_t group[128] = {};
  for (int j = 0; j < some; ++j, score += n, rank += n) {
    __builtin_memcpy(group, score, static_cast<std::size_t>(n));
    for (int i = 0; i < n; i += 32) {
      i8x32 own;
      u8x32 ranks = least;
      __builtin_memcpy(&own, group + i, 32);
      for (int other = 0; other < n; ++other) ranks += rank_beside(own, i8x32{} + group[other]);
      __builtin_memcpy(rank + i, &ranks, 32);
    }
  }
}

template <int fixed, bool ranks, bool streaming>
static inline void groups_by_sums(const EstimatorView& e, const std::uint8_t* scores, int groups, float* out) {
  const int n = members<fixed>(e.rollouts);
  const std::size_t block = 8 * static_cast<std::size_t>(n);
  alignas(32) std::uint8_t rank[8 * (fixed > 0 ? fixed : most_ranked) + 31];
  for (int g = 0; g < groups; g += 8, scores += block, out += block) {
    const int some = groups - g < 8 ? groups - g : 8;
    if (ranks) rank_groups<fixed>(scores, n, some, rank);
    const std::uint8_t* score = ranks ? rank : scores;
    alignas(32) std::int32_t sum[8] = {};
    alignas(32) float inverse[8];
    i32x8 sums, squares = {};
    if (fixed == 8 && some == 8) {
      sum_groups(score, sums, squares);
    } else if (fixed == 16 && some == 8) {
      i32x8 more, more_squares;
      sum_groups(score, sums, squares);
      sum_groups(score + 64, more, more_squares);
      sums = add_pairs(sums, more);
      squares = add_pairs(squares, more_squares);
    } else {
      std::int32_t square[8] = {};
      for (int j = 0; j < some; ++j)
        for (int i = 0; i < n; ++i) {
          const std::int32_t s = score[j * n + i];
          sum[j] += s;
          square[j] += s * s;
        }
      sums = load(sum);
      squares = load(square);
    }
    store(sum, sums);
    const i32x8 spread = n * squares - sums * sums;
    store(inverse, ranks && group::divides_one<true>(e) ? group::factor_of_ranks<EightGroups>(e, n, spread)
                                                        : group::factor<EightGroups>(e, n, sums - e.shift * n, spread, i32x8{}));
    if (some == 8) {
      ODRPO_UNROLL
      for (int j = 0; j < 8; ++j) centre_and_scale<fixed, streaming>(score + j * n, n, sum[j], inverse[j], out + j * n);
    } else {
      for (int j = 0; j < some; ++j) centre_and_scale<fixed, false>(score + j * n, n, sum[j], inverse[j], out + j * n);
    }
  }
  if (streaming) end_streaming();
}

template <int fixed, bool ranks>
static inline void groups_in_eights(const EstimatorView& e, const std::uint8_t* score, int groups, float* out) {
  const bool streaming = fixed > 0 && streams(out, static_cast<std::size_t>(groups) * static_cast<std::size_t>(e.rollouts));
  if (streaming) groups_by_sums<fixed, ranks, fixed != 0>(e, score, groups, out);
  else groups_by_sums<fixed, ranks, false>(e, score, groups, out);
}
template <bool ranks>
static void by_sums(const EstimatorView& e, const std::uint8_t* score, int groups, float* out) {
  if (e.rollouts == 8) return groups_in_eights<8, ranks>(e, score, groups, out);
  if (e.rollouts == 16) return groups_in_eights<16, ranks>(e, score, groups, out);
  groups_in_eights<0, ranks>(e, score, groups, out);
}

typedef std::uint8_t u8x8 __attribute__((vector_size(8)));
typedef std::int8_t i8x8 __attribute__((vector_size(8)));

// Lane l is 1 where mask[l] is not 0, else 0.
ODRPO_HD f32x8 ones_where(const std::uint8_t* mask) {
  u8x8 bytes;
  __builtin_memcpy(&bytes, mask, 8);
  return __builtin_convertvector((bytes != 0) & i8x8{1, 1, 1, 1, 1, 1, 1, 1}, f32x8);
}

// Sum of f(x[i]) over i < n with a mask other than 0 (null = all): lane j adds elements j, j + 32, …; then the 32 lanes are added.
template <class F>
static inline float lane_sum(const float* x, const std::uint8_t* mask, int n, F f) {
  Lanes sum = zero_lanes();
  int i = 0;
  for (; i + 32 <= n; i += 32) {
    ODRPO_UNROLL
    for (int j = 0; j < 4; ++j) {
      const f32x8 term = f(load(x + i + 8 * j));
      sum.v[j] += mask == nullptr ? term : ones_where(mask + i + 8 * j) * term;
    }
  }
  if (i < n) {
    float lanes[32] = {}, weight[32] = {};
    for (int j = 0; i + j < n; ++j) {
      lanes[j] = x[i + j];
      weight[j] = mask == nullptr || mask[i + j] != 0 ? 1.0f : 0.0f;
    }
    for (int j = 0; j < 4; ++j) sum.v[j] += load(weight + 8 * j) * f(load(lanes + 8 * j));
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
  const float mean = lane_sum(advantage, mask, n, [](f32x8 x) { return x; }) * (1.0f / static_cast<float>(count));
  const float variance =
      lane_sum(advantage, mask, n, [mean](f32x8 x) { return (x - mean) * (x - mean); }) * (1.0f / static_cast<float>(count - w.ddof));
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
