// One pass over groups of integer scores: levels reached by counting, terms by table, advantages centred on the group.
#include "estimators/batch.hpp"
#include "kernels/simd.hpp"

namespace odrpo::ODRPO_ISA {

typedef std::uint8_t u8x16 __attribute__((vector_size(16)));
typedef std::int8_t i8x16 __attribute__((vector_size(16)));
constexpr int max_levels = 112;  // levels 1..100 in blocks of 16

// Levels k0+1 .. k0+16 as a vector.
ODRPO_HD u8x16 level_block(int k0) {
  const u8x16 first = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  return first + static_cast<std::uint8_t>(k0);
}

// reach[k-1] = number of members with score >= k, for k = 1..blocks*16 (0 above the scale).
ODRPO_HD void count_reach(const std::uint8_t* score, int rollouts, int blocks, std::uint8_t* reach) {
  for (int block = 0; block < blocks; ++block) {
    const u8x16 level = level_block(16 * block);
    u8x16 n = {};
    for (int i = 0; i < rollouts; ++i) n -= (u8x16)((level - level) + score[i] >= level);
    __builtin_memcpy(reach + 16 * block, &n, 16);
  }
}

// Number of levels that at least `least` members reach: the median whose place in the sorted group `least` stands for.
ODRPO_HD int levels_reached_by(const std::uint8_t* reach, int levels, int least) {
  int n = 0;
  for (int k = 0; k < levels; ++k) n += reach[k] >= least;
  return n;
}

static void ordinal(const EstimatorView& e, const std::uint8_t* score, int groups, float* out) {
  const int rollouts = e.rollouts, levels = e.levels, stride = rollouts + 1, blocks = (levels + 15) / 16;
  const float share = 1.0f / static_cast<float>(rollouts);
  std::uint8_t reach[max_levels];
  float sums[max_levels];
  sums[0] = 0;
  for (int g = 0; g < groups; ++g) {
    const std::uint8_t* s = score + static_cast<std::size_t>(g) * rollouts;
    float* a = out + static_cast<std::size_t>(g) * rollouts;
    count_reach(s, rollouts, blocks, reach);
    const float* term = e.term;
    if (e.class_size > 0) {
      int median = 0;
      if (e.lower_reach > 0) median += levels_reached_by(reach, levels, e.lower_reach);
      if (e.upper_reach > 0) median += levels_reached_by(reach, levels, e.upper_reach);
      term += static_cast<std::size_t>(median) * e.class_size;
    }
    // P(r): running sum of the terms of levels 1..r
    float sum = 0;
    for (int k = 1; k <= levels; ++k) {
      sum += term[k * stride + reach[k - 1]];
      sums[k] = sum;
    }
    float total = 0;
    for (int i = 0; i < rollouts; ++i) {
      a[i] = sums[s[i]];
      total += a[i];
    }
    const float centre = total * share;
    for (int i = 0; i < rollouts; ++i) a[i] -= centre;
  }
}

static void cardinal(const EstimatorView& e, const std::uint8_t* score, int groups, float* out) {
  const int n = e.rollouts;
  const float members = static_cast<float>(n);
  for (int g = 0; g < groups; ++g) {
    const std::uint8_t* s = score + static_cast<std::size_t>(g) * n;
    float* a = out + static_cast<std::size_t>(g) * n;
    std::int32_t sum = 0, squares = 0;
    for (int i = 0; i < n; ++i) {
      sum += s[i];
      squares += s[i] * s[i];
    }
    const std::int32_t variance = n * squares - sum * sum;  // G^2 sigma^2, exact; 0 exactly when all scores are equal
    float inverse = 0;                                      // of G times the denominator
    if (variance > 0) {
      switch (e.form) {
        case Form::rloo: inverse = 1.0f / (members - 1.0f); break;
        case Form::grpo: {
          const float sigma = __builtin_sqrtf(static_cast<float>(variance) / static_cast<float>(n * (n - e.ddof)));
          inverse = 1.0f / (members * (sigma + e.eps));
          break;
        }
        case Form::maxrl: inverse = 1.0f / (static_cast<float>(sum) + members * e.eps); break;
        default: inverse = 1.0f / members; break;
      }
    }
    for (int i = 0; i < n; ++i) a[i] = static_cast<float>(n * s[i] - sum) * inverse;
  }
}

static void rank(const EstimatorView& e, const std::uint8_t* score, int groups, float* out) {
  const int n = e.rollouts, blocks = (e.levels + 15) / 16 + 1;
  std::uint8_t reach[max_levels + 16];
  for (int g = 0; g < groups; ++g) {
    const std::uint8_t* s = score + static_cast<std::size_t>(g) * n;
    float* a = out + static_cast<std::size_t>(g) * n;
    count_reach(s, n, blocks, reach);
    // twice the average rank, less its mean n+1: below = n - reach(r), equal = reach(r) - reach(r+1)
    std::int32_t squares = 0, centred[256];
    for (int i = 0; i < n; ++i) {
      const int at = reach[s[i] - 1], above = reach[s[i]];
      const int d = 2 * (n - at) + (at - above) + 1 - (n + 1);
      centred[i] = d;
      squares += d * d;
    }
    const float sigma = __builtin_sqrtf(static_cast<float>(squares) / static_cast<float>(n));
    const float inverse = squares > 0 ? 1.0f / (sigma + 2.0f * e.eps) : 0.0f;
    for (int i = 0; i < n; ++i) a[i] = static_cast<float>(centred[i]) * inverse;
  }
}

// Sum over 32 lanes of f(x) for any n: lane j adds elements j, j + 32, ….
template <class F>
static inline float lane_sum(const float* x, int n, F f) {
  Lanes sum = zero_lanes();
  int i = 0;
  for (; i + 32 <= n; i += 32) {
    ODRPO_UNROLL
    for (int j = 0; j < 4; ++j) sum.v[j] += f(load(x + i + 8 * j));
  }
  if (i < n) {
    float lanes[32] = {}, mask[32] = {};
    for (int j = 0; i + j < n; ++j) {
      lanes[j] = x[i + j];
      mask[j] = 1;
    }
    for (int j = 0; j < 4; ++j) sum.v[j] += load(mask + 8 * j) * f(load(lanes + 8 * j));
  }
  return add_halves(sum);
}

static void whiten(float* advantage, int n) {
  float low = advantage[0], high = advantage[0];
  int i = 0;
  if (n >= 8) {
    f32x8 lows = load(advantage), highs = lows;
    for (i = 8; i + 8 <= n; i += 8) {
      lows = min(lows, load(advantage + i));
      highs = max(highs, load(advantage + i));
    }
    for (int l = 0; l < 8; ++l) {
      low = lows[l] < low ? lows[l] : low;
      high = highs[l] > high ? highs[l] : high;
    }
  }
  for (; i < n; ++i) {
    low = advantage[i] < low ? advantage[i] : low;
    high = advantage[i] > high ? advantage[i] : high;
  }
  if (low == high) {
    for (int k = 0; k < n; ++k) advantage[k] = 0;
    return;
  }
  const float share = 1.0f / static_cast<float>(n);
  const float mean = lane_sum(advantage, n, [](f32x8 x) { return x; }) * share;
  const float variance = lane_sum(advantage, n, [mean](f32x8 x) { return (x - mean) * (x - mean); }) * share;
  const float inverse = variance > 0 ? 1.0f / __builtin_sqrtf(variance) : 0.0f;
  for (int k = 0; k < n; ++k) advantage[k] = (advantage[k] - mean) * inverse;
}

extern const EstimatorStages estimator_table;
const EstimatorStages estimator_table = {ordinal, cardinal, rank, whiten};

}  // namespace odrpo::ODRPO_ISA
