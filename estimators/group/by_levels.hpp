// Computes advantages of forms of levels from counts of the members that reach each level: 16 levels in a register, sums of eight groups in
// turn. For batch_stage.cpp.
#pragma once
#include "estimators/group/by_sums.hpp"
#include "estimators/group/level_forms.hpp"
#include "kernels/simd.hpp"

namespace odrpo::ODRPO_ISA {

typedef std::int8_t i8x16 __attribute__((vector_size(16)));
typedef std::uint8_t u8x16 __attribute__((vector_size(16)));
typedef float f32x2 __attribute__((vector_size(8)));
typedef float f32x4 __attribute__((vector_size(16)));
typedef double f64x2 __attribute__((vector_size(16)));
constexpr int max_levels = 112;  // 100 levels, rounded up to a multiple of 16

// Element i of the result is the number of members with score > from + i, for i = 0..15. Scores are below 128.
template <int fixed>
static inline u8x16 count_reach(const std::uint8_t* score, int rollouts, int from) {
  const i8x16 below = i8x16{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15} + static_cast<std::int8_t>(from);
  u8x16 n = {};
  for (int i = 0; i < members<fixed>(rollouts); ++i) n -= (u8x16)((below - below) + static_cast<std::int8_t>(score[i]) > below);
  return n;
}

// The number of levels that at least `least` members reach: the group's lower or upper median, depending on `least`. Counts is u8x16, or i8x16,
// which compares faster, for groups of fewer than 128.
template <class Counts>
static inline int levels_reached_by(Counts reach, int least) {
  const i8x16 weight = reach >= (Counts)(u8x16{} + static_cast<std::uint8_t>(least));
#if defined(__AVX2__)
  return __builtin_popcount(static_cast<unsigned>(_mm_movemask_epi8((__m128i)weight)));
#else
  int n = 0;
  for (int k = 0; k < 16; ++k) n -= weight[k];
  return n;
#endif
}

// What 16 levels add to the index of the group's median in EstimatorView::term.
template <class Counts>
static inline int median_of_block(const EstimatorView& e, Counts reach) {
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
    if (e.class_size > 0) term += static_cast<std::size_t>(median_of_block(e, (i8x16)reached)) * e.class_size;
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

// Forms of levels for groups of any size on any number of levels, as group::sum_at_once. The sums skip levels that all or none reach, which
// add 0. Eight groups take each step before the next one, so that one does not wait for another, and sum equally many levels.
template <int fixed>
static inline void groups_by_levels(const EstimatorView& e, const std::uint8_t* score, int groups, float* out) {
  const int n = members<fixed>(e.rollouts), stride = n + 1;
  const int medians = (e.lower_reach > 0) + (e.upper_reach > 0);
  std::uint8_t reach[8][max_levels + 16];
  double sum[8][max_levels], centre[8];
  const float* term[8];  // of level low[j]
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
      term[j] = e.term + static_cast<std::size_t>(median) * static_cast<std::size_t>(e.class_size) + 2 * low[j] * stride;
    }
    for (int j = 0; j < some; ++j) {
      sum[j][low[j]] = low[j] > 0 ? 0.0 : -0.0;  // sum_at_once gives a score of 0 the negative of `centre`, even if it is 0
      f64x2 sums = {};  // both sums of group::running_sums
      for (int k = low[j]; k < low[j] + width; ++k) {
        f32x2 both;
        __builtin_memcpy(&both, (term[j] += 2 * stride) + 2 * std::size_t{reach[j][k]}, 8);
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

}  // namespace odrpo::ODRPO_ISA
