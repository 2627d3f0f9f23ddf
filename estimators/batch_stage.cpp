// One pass over groups of integer scores: levels reached by counting, terms by table, advantages centred on the group.
#include "estimators/batch.hpp"
#include "estimators/whitening_scale.hpp"
#include "kernels/simd.hpp"

namespace odrpo::ODRPO_ISA {

typedef std::int8_t i8x16 __attribute__((vector_size(16)));
typedef std::uint8_t u8x16 __attribute__((vector_size(16)));
constexpr int max_levels = 112;  // levels 1..100 in blocks of 16

// The loops over a group know its size where it is the usual one: `fixed` members, or any number when 0.
template <int fixed>
static inline int members(int rollouts) {
  return fixed > 0 ? fixed : rollouts;
}

// reach[k-1] = number of members with score >= k, for 16 levels from 16 block + 1 on (0 above the scale). Levels stay below 128.
template <int fixed>
static inline u8x16 count_reach(const std::uint8_t* score, int rollouts, int block) {
  const i8x16 below = i8x16{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15} + static_cast<std::int8_t>(16 * block);
  u8x16 n = {};
  for (int i = 0; i < members<fixed>(rollouts); ++i) n -= (u8x16)((below - below) + static_cast<std::int8_t>(score[i]) > below);
  return n;
}

// Number of levels that at least `least` members reach: the median whose place in the sorted group `least` stands for.
ODRPO_HD int levels_reached_by(const std::uint8_t* reach, int levels, int least) {
  int n = 0;
  for (int k = 0; k < levels; ++k) n += reach[k] >= least;
  return n;
}
ODRPO_HD int levels_reached_by(u8x16 reach, int least) {
  const i8x16 mask = (i8x16)reach >= (i8x16{} + static_cast<std::int8_t>(least));  // counts of at most 16
#if defined(__AVX2__)
  return __builtin_popcount(static_cast<unsigned>(_mm_movemask_epi8((__m128i)mask)));
#else
  int n = 0;
  for (int k = 0; k < 16; ++k) n -= mask[k];
  return n;
#endif
}

// The sums of the lower and of the upper levels, from at(k) = (term, centre) of level k: value[v] = what a member with score v reaches of
// its own half, `below` and `above` what all give up for each, `low` what the whole lower half is worth.
struct HalfSums {
  float below, above, low;
};
template <class At>
static inline HalfSums half_sums(int levels, At at, float* value) {
  const int middle = levels / 2;
  const float below = half_values(1, middle, at, value), low = value[middle];
  const float above = half_values(middle + 1, levels, at, value + middle);
  value[middle] = low;  // which the upper half began with 0
  return {below, above, low};
}
// Advantages of eight members: (lower half - below) + (upper half - above), as a HalvesTable adds them.
static inline f32x8 add_halves_of(const HalfSums& sums, int middle, const float* value, const std::uint8_t* score) {
  const i32x8 upper = load_bytes(score) > middle;
  const f32x8 own = gather(value, score, 8, 0.0f) - (upper ? splat(sums.above) : splat(sums.below));
  return own + (upper ? splat(sums.low - sums.below) : splat(0.0f - sums.above));
}
// Advantages by score, value[0..levels], on scales of any length: in double.
template <class At>
static inline void one_sum(int levels, At at, float* value) {
  double sum = 0, centre = 0;
  for (int k = 1; k <= levels; ++k) centre += at(k)[1];
  value[0] = static_cast<float>(-centre);
  for (int k = 1; k <= levels; ++k) {
    sum += at(k)[0];
    value[k] = static_cast<float>(sum - centre);
  }
}

// `fixed` > 0: groups of that size on at most 16 levels (reach in one register).
template <int fixed>
static inline void ordinal_groups(const EstimatorView& e, const std::uint8_t* score, int groups, float* out) {
  const int rollouts = members<fixed>(e.rollouts), levels = e.levels, stride = rollouts + 1, blocks = (levels + 15) / 16;
  alignas(16) std::uint8_t reach[max_levels];
  float value[max_levels];
  for (int g = 0; g < groups; ++g) {
    const std::uint8_t* s = score + static_cast<std::size_t>(g) * rollouts;
    float* a = out + static_cast<std::size_t>(g) * rollouts;
    u8x16 lowest = {};
    for (int block = 0; block < (fixed > 0 ? 1 : blocks); ++block) {
      lowest = count_reach<fixed>(s, rollouts, block);
      __builtin_memcpy(reach + 16 * block, &lowest, 16);
    }
    const float* term = e.term;
    if (e.class_size > 0) {
      int median = 0;
      if (e.lower_reach > 0)
        median += fixed > 0 ? levels_reached_by(lowest, e.lower_reach) : levels_reached_by(reach, levels, e.lower_reach);
      if (e.upper_reach > 0)
        median += fixed > 0 ? levels_reached_by(lowest, e.upper_reach) : levels_reached_by(reach, levels, e.upper_reach);
      term += static_cast<std::size_t>(median) * e.class_size;
    }
    const auto at = [&](int k) { return term + 2 * (k * stride + reach[k - 1]); };
    if constexpr (fixed > 0) {
      const HalfSums sums = half_sums(levels, at, value);
      ODRPO_UNROLL
      for (int i = 0; i < fixed; i += 8) store(a + i, add_halves_of(sums, levels / 2, value, s + i));
    } else {
      one_sum(levels, at, value);
      for (int i = 0; i < rollouts; ++i) a[i] = value[s[i]];
    }
  }
}

static void ordinal(const EstimatorView& e, const std::uint8_t* score, int groups, float* out) {
  if (e.rollouts == 8 && e.levels <= 16) return ordinal_groups<8>(e, score, groups, out);
  if (e.rollouts == 16 && e.levels <= 16) return ordinal_groups<16>(e, score, groups, out);
  ordinal_groups<0>(e, score, groups, out);
}

#include "estimators/batch_cardinal.inl"

typedef std::uint8_t u8x8 __attribute__((vector_size(8)));
typedef std::int8_t i8x8 __attribute__((vector_size(8)));

// 1 where a byte is not 0, else 0.
ODRPO_HD f32x8 ones_where(const std::uint8_t* kept) {
  u8x8 bytes;
  __builtin_memcpy(&bytes, kept, 8);
  return __builtin_convertvector((bytes != 0) & i8x8{1, 1, 1, 1, 1, 1, 1, 1}, f32x8);
}

// Sum over 32 lanes of f(x) for any n: lane j adds elements j, j + 32, …. `kept` (null = all): those with 0 are left out.
template <class F>
static inline float lane_sum(const float* x, const std::uint8_t* kept, int n, F f) {
  Lanes sum = zero_lanes();
  int i = 0;
  for (; i + 32 <= n; i += 32) {
    ODRPO_UNROLL
    for (int j = 0; j < 4; ++j) {
      const f32x8 term = f(load(x + i + 8 * j));
      sum.v[j] += kept == nullptr ? term : ones_where(kept + i + 8 * j) * term;
    }
  }
  if (i < n) {
    float lanes[32] = {}, mask[32] = {};
    for (int j = 0; i + j < n; ++j) {
      lanes[j] = x[i + j];
      mask[j] = kept == nullptr || kept[i + j] != 0 ? 1.0f : 0.0f;
    }
    for (int j = 0; j < 4; ++j) sum.v[j] += load(mask + 8 * j) * f(load(lanes + 8 * j));
  }
  return add_halves(sum);
}

// Are all the same? `kept` as above.
static inline bool all_equal(const float* x, const std::uint8_t* kept, int n) {
  int i = 0;
  if (kept != nullptr) {
    while (i < n && kept[i] == 0) ++i;
    const int first = i;
    for (; i < n; ++i)
      if (kept[i] != 0 && x[i] != x[first]) return false;
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

static void whiten(const Whitening& w, float* advantage, const std::uint8_t* kept, int n) {
  int count = n;
  if (kept != nullptr) {
    count = 0;
    for (int k = 0; k < n; ++k) {
      count += kept[k] != 0;
      advantage[k] = kept[k] != 0 ? advantage[k] : 0.0f;
    }
  }
  if (!w.on || n == 0) return;
  if (all_equal(advantage, kept, n)) {
    for (int k = 0; k < n; ++k) advantage[k] = 0;
    return;
  }
  const float mean = lane_sum(advantage, kept, n, [](f32x8 x) { return x; }) * (1.0f / static_cast<float>(count));
  const float variance =
      lane_sum(advantage, kept, n, [mean](f32x8 x) { return (x - mean) * (x - mean); }) * (1.0f / static_cast<float>(count - w.ddof));
  const float scale = whitening_scale(w, variance), inverse = scale > 0 ? 1.0f / scale : 0.0f;
  if (kept == nullptr)
    for (int k = 0; k < n; ++k) advantage[k] = (advantage[k] - mean) * inverse;
  else
    for (int k = 0; k < n; ++k) advantage[k] = kept[k] != 0 ? (advantage[k] - mean) * inverse : 0.0f;
}

extern const EstimatorStages estimator_table;
const EstimatorStages estimator_table = {ordinal, cardinal, rank, whiten};

}  // namespace odrpo::ODRPO_ISA
