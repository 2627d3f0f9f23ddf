// Computes advantages that need only sums of a group's rewards or ranks: exact integer sums, and group::factor() for eight groups at once. For
// batch_stage.cpp.
#pragma once
#include "estimators/group/group.hpp"
#include "kernels/simd.hpp"

namespace odrpo::ODRPO_ISA {

typedef std::int8_t i8x32 __attribute__((vector_size(32)));
typedef std::uint8_t u8x32 __attribute__((vector_size(32)));
constexpr int most_ranked = 127;  // members of the largest group whose doubled ranks are bytes

// The size of a group: the constant `fixed` for the usual sizes, else `rollouts` (`fixed` = 0).
template <int fixed>
static inline int members(int rollouts) {
  return fixed > 0 ? fixed : rollouts;
}

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

}  // namespace odrpo::ODRPO_ISA
