// Defines vectors of 8 floats, and of as many as a register holds, by the compilers' vector extensions; sums over 32 lanes in a fixed order; exp/log of
// vectors. For stage files (compiled once per instruction set).
#pragma once
#include <cstddef>
#include <cstdint>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "kernels/float_math.hpp"
#include "kernels/portable.hpp"

namespace odrpo::ODRPO_ISA {

typedef float f32x8 __attribute__((vector_size(32)));
typedef std::int32_t i32x8 __attribute__((vector_size(32)));
typedef std::uint32_t u32x8 __attribute__((vector_size(32)));
typedef std::uint64_t u64x4 __attribute__((vector_size(32)));
typedef double f64x4 __attribute__((vector_size(32)));
typedef float f32x8_loose __attribute__((vector_size(32), aligned(4), may_alias));
typedef std::uint32_t u32x8_loose __attribute__((vector_size(32), aligned(4), may_alias));
typedef std::int32_t i32x8_loose __attribute__((vector_size(32), aligned(4), may_alias));

constexpr int lane_count = 32;  ///< every sum has 32 partial sums: lane j adds elements j, j+32, …; then 32 become 16, 8, 4, 2, 1

ODRPO_HD f32x8 load(const float* p) { return *reinterpret_cast<const f32x8_loose*>(p); }
ODRPO_HD void store(float* p, f32x8 v) { *reinterpret_cast<f32x8_loose*>(p) = v; }
ODRPO_HD i32x8 load(const std::int32_t* p) { return *reinterpret_cast<const i32x8_loose*>(p); }
ODRPO_HD void store(std::int32_t* p, i32x8 v) { *reinterpret_cast<i32x8_loose*>(p) = v; }
ODRPO_HD u32x8 load(const std::uint32_t* p) { return *reinterpret_cast<const u32x8_loose*>(p); }
ODRPO_HD f32x8 splat(float x) { return f32x8{x, x, x, x, x, x, x, x}; }
/// True if store_streaming(), which bypasses the caches, is faster: n floats are too many for the caches, and `to` is aligned for it.
ODRPO_HD bool streams(const float* to, std::size_t n) {
  return n >= (std::size_t{1} << 20) && reinterpret_cast<std::uintptr_t>(to) % 32 == 0;
}
ODRPO_HD void store_streaming(float* p, f32x8 v) {
#if defined(__AVX2__)
  _mm256_stream_ps(p, (__m256)v);
#else
  store(p, v);
#endif
}
/// Call this after the last store_streaming(), before another thread reads what was stored.
ODRPO_HD void end_streaming() {
#if defined(__AVX2__)
  _mm_sfence();
#endif
}
ODRPO_HD f32x8 max(f32x8 a, f32x8 b) { return a > b ? a : b; }
ODRPO_HD f32x8 min(f32x8 a, f32x8 b) { return a < b ? a : b; }
ODRPO_HD f32x8 sqrt(f32x8 x) {
#if defined(__AVX2__)
  return (f32x8)_mm256_sqrt_ps((__m256)x);
#else
  f32x8 r;
  for (int i = 0; i < 8; ++i) r[i] = __builtin_sqrtf(x[i]);
  return r;
#endif
}
ODRPO_HD f64x4 sqrt(f64x4 x) {
#if defined(__AVX2__)
  return (f64x4)_mm256_sqrt_pd((__m256d)x);
#else
  return f64x4{__builtin_sqrt(x[0]), __builtin_sqrt(x[1]), __builtin_sqrt(x[2]), __builtin_sqrt(x[3])};
#endif
}
/// The doubles of integers below 2^32.
ODRPO_HD f64x4 to_double(u64x4 n) { return (f64x4)(n | 0x4330000000000000u) - 0x1p52; }
/// Multiplies lane by lane: the low 32 bits of `a` times those of `b`, to 64 bits.
ODRPO_HD u64x4 multiply_low(u64x4 a, u64x4 b) {
#if defined(__AVX2__)
  return (u64x4)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#else
  return (a & 0xffffffffu) * (b & 0xffffffffu);
#endif
}
#if defined(__AVX512F__)
typedef std::uint64_t wide_u64 __attribute__((vector_size(64)));
ODRPO_HD wide_u64 multiply_low(wide_u64 a, wide_u64 b) { return (wide_u64)_mm512_maskz_mul_epu32(0xff, (__m512i)a, (__m512i)b); }
#else
using wide_u64 = u64x4;
#endif

/// Sum of 8 lanes: adds the upper half to the lower half, 8 to 4 to 2 to 1.
ODRPO_HD float add_halves(f32x8 v) {
  const f32x8 a = v + __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3);
  const f32x8 b = a + __builtin_shufflevector(a, a, 2, 3, 0, 1, 6, 7, 4, 5);
  return b[0] + b[1];
}
ODRPO_HD float max_halves(f32x8 v) {
  const f32x8 a = max(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3));
  const f32x8 b = max(a, __builtin_shufflevector(a, a, 2, 3, 0, 1, 6, 7, 4, 5));
  return b[0] > b[1] ? b[0] : b[1];
}

/// Loads from[at[0]], …, from[at[7]]; lanes from n on become `rest`. Built in registers, since eight stores read back as one vector stall.
template <class Index>
static inline f32x8 gather(const float* from, const Index* at, int n, float rest) {
  if (n >= 8) return f32x8{from[at[0]], from[at[1]], from[at[2]], from[at[3]], from[at[4]], from[at[5]], from[at[6]], from[at[7]]};
  f32x8 v = splat(rest);
  for (int l = 0; l < n; ++l) v[l] = from[at[l]];
  return v;
}
/// Loads p[0], …, p[n-1]; the lanes after them become `rest`.
ODRPO_HD f32x8 load_some(const float* p, int n, float rest) {
  if (n >= 8) return load(p);
  f32x8 v = splat(rest);
  for (int l = 0; l < n; ++l) v[l] = p[l];
  return v;
}

/// Lane l of the result is v[at[l]]; each at[l] is in 0..7.
ODRPO_HD f32x8 lookup(f32x8 v, i32x8 at) {
#if defined(__AVX2__)
  return (f32x8)_mm256_permutevar8x32_ps((__m256)v, (__m256i)at);
#else
  f32x8 r;
  for (int l = 0; l < 8; ++l) r[l] = v[at[l] & 7];
  return r;
#endif
}

/// The sums of neighbouring lanes: of the four pairs of `a`, then of those of `b`.
ODRPO_HD i32x8 add_pairs(i32x8 a, i32x8 b) {
  return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14) + __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
}
/// Lane g of `sum` and `squares` becomes the sum of the 8 scores of group g and of their squares; eight groups, scores up to 127.
ODRPO_HD void sum_groups(const std::uint8_t* score, i32x8& sum, i32x8& squares) {
#if defined(__AVX2__)
  const __m256i a = _mm256_loadu_si256((const __m256i*)score), b = _mm256_loadu_si256((const __m256i*)(score + 32)), zero = {};
  const __m256i sa = _mm256_sad_epu8(a, zero), sb = _mm256_sad_epu8(b, zero), ones = _mm256_set1_epi16(1);
  const __m256i qa = _mm256_madd_epi16(_mm256_maddubs_epi16(a, a), ones), qb = _mm256_madd_epi16(_mm256_maddubs_epi16(b, b), ones);
  sum = __builtin_shufflevector((i32x8)sa, (i32x8)sb, 0, 2, 4, 6, 8, 10, 12, 14);
  squares = add_pairs((i32x8)qa, (i32x8)qb);
#else
  for (int g = 0; g < 8; ++g) {
    std::int32_t s = 0, q = 0;
    for (int i = 0; i < 8; ++i) s += score[8 * g + i], q += score[8 * g + i] * score[8 * g + i];
    sum[g] = s;
    squares[g] = q;
  }
#endif
}
/// Loads eight bytes as 32-bit integers.
ODRPO_HD i32x8 load_bytes(const std::uint8_t* p) {
#if defined(__AVX2__)
  return (i32x8)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)p));
#else
  return i32x8{p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]};
#endif
}

/// Transposes an 8 x 8 matrix given by its rows.
ODRPO_HD void transpose(f32x8 r[8]) {
  f32x8 t[8], u[8];
  ODRPO_UNROLL
  for (int i = 0; i < 8; i += 2) {  // interleaves pairs of rows
    t[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    t[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  ODRPO_UNROLL
  for (int i = 0; i < 8; i += 4) {  // joins them to groups of four rows
    u[i] = __builtin_shufflevector(t[i], t[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    u[i + 1] = __builtin_shufflevector(t[i], t[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    u[i + 2] = __builtin_shufflevector(t[i + 1], t[i + 3], 0, 1, 8, 9, 4, 5, 12, 13);
    u[i + 3] = __builtin_shufflevector(t[i + 1], t[i + 3], 2, 3, 10, 11, 6, 7, 14, 15);
  }
  ODRPO_UNROLL
  for (int i = 0; i < 4; ++i) {  // joins the upper and lower four rows
    r[i] = __builtin_shufflevector(u[i], u[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    r[i + 4] = __builtin_shufflevector(u[i], u[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

/// Lane r of the result is the sum (max_rows: the maximum) of rows[r], in the order of add_halves (max_halves). Overwrites `rows`.
ODRPO_HD f32x8 add_rows(f32x8 rows[8]) {
  transpose(rows);
  return ((rows[0] + rows[4]) + (rows[2] + rows[6])) + ((rows[1] + rows[5]) + (rows[3] + rows[7]));
}
ODRPO_HD f32x8 max_rows(f32x8 rows[8]) {
  transpose(rows);
  return max(max(max(rows[0], rows[4]), max(rows[2], rows[6])), max(max(rows[1], rows[5]), max(rows[3], rows[7])));
}

/// Returns bits: bit l says whether the comparison is true in lane l.
ODRPO_HD unsigned lanes_true(i32x8 mask) {
#if defined(__AVX2__)
  return static_cast<unsigned>(_mm256_movemask_ps((__m256)mask));
#else
  unsigned bits = 0;
  for (unsigned l = 0; l < 8; ++l) bits |= static_cast<unsigned>(mask[l] & 1) << l;
  return bits;
#endif
}
/// Returns in how many lanes a comparison is true.
ODRPO_HD int count_true(i32x8 mask) {
#if defined(__AVX2__)
  return __builtin_popcount(static_cast<unsigned>(_mm256_movemask_ps((__m256)mask)));
#else
  int n = 0;
  for (int i = 0; i < 8; ++i) n -= mask[i];
  return n;
#endif
}

ODRPO_HD int count_true(i32x8 a, i32x8 b) {
#if defined(__AVX2__)
  return __builtin_popcount(static_cast<unsigned>(_mm256_movemask_epi8(_mm256_packs_epi32((__m256i)a, (__m256i)b)))) / 2;
#else
  return count_true(a) + count_true(b);
#endif
}

/// Returns how many of 16 thresholds are below x.
ODRPO_HD int count_below(const std::int32_t* threshold, std::int32_t x) {
#if defined(__AVX512F__)
  return __builtin_popcount(_mm512_cmplt_epi32_mask(_mm512_loadu_si512(threshold), _mm512_set1_epi32(x)));
#else
  const i32x8 word = {x, x, x, x, x, x, x, x};
  return count_true(word > load(threshold), word > load(threshold + 8));
#endif
}

// Vectors that fill a register, for work that is the same on every float of a row: 16 floats with AVX-512, otherwise 8.
#if defined(__AVX512F__)
typedef float wide __attribute__((vector_size(64)));
typedef std::int32_t wide_i __attribute__((vector_size(64)));
typedef std::uint32_t wide_u __attribute__((vector_size(64)));
typedef float wide_loose __attribute__((vector_size(64), aligned(4), may_alias));
ODRPO_HD wide load_wide(const float* p) { return *reinterpret_cast<const wide_loose*>(p); }
ODRPO_HD void store(float* p, wide v) { *reinterpret_cast<wide_loose*>(p) = v; }
ODRPO_HD wide splat_wide(float x) { return (wide)_mm512_set1_ps(x); }
ODRPO_HD wide sqrt(wide x) { return (wide)_mm512_maskz_sqrt_ps(0xffff, (__m512)x); }
/// The eight floats from lane 8 part on.
ODRPO_HD f32x8 part_of(wide v, int part) {
  return part == 0 ? __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) : __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
}
#else
using wide = f32x8;
using wide_i = i32x8;
using wide_u = u32x8;
ODRPO_HD wide load_wide(const float* p) { return load(p); }
ODRPO_HD wide splat_wide(float x) { return splat(x); }
ODRPO_HD f32x8 part_of(wide v, int) { return v; }
#endif
constexpr int wide_lanes = sizeof(wide) / sizeof(float);
constexpr int wide_parts = wide_lanes / 8;

/// 32 neighbouring floats.
struct Lanes {
  wide v[32 / wide_lanes];
};
ODRPO_HD Lanes zero_lanes() { return {}; }
ODRPO_HD Lanes load_lanes(const float* p) {
  Lanes s;
  ODRPO_UNROLL
  for (int j = 0; j < 32 / wide_lanes; ++j) s.v[j] = load_wide(p + wide_lanes * j);
  return s;
}
ODRPO_HD void store(float* p, const Lanes& s) {
  ODRPO_UNROLL
  for (int j = 0; j < 32 / wide_lanes; ++j) store(p + wide_lanes * j, s.v[j]);
}
/// Lanes of f(lanes), or of f(lanes, other lanes).
template <class F, class... Other>
static inline Lanes each(F f, const Other&... of) {
  Lanes s;
  ODRPO_UNROLL
  for (int j = 0; j < 32 / wide_lanes; ++j) s.v[j] = f(of.v[j]...);
  return s;
}
/// The eight floats from lane 8 k on.
ODRPO_HD f32x8 eight_of(const Lanes& s, int k) { return part_of(s.v[k / wide_parts], k % wide_parts); }
/// Adds 32 lanes to 8: the upper 16 to the lower 16, then the upper 8 of these to the lower 8.
ODRPO_HD f32x8 fold(const Lanes& s) {
#if defined(__AVX512F__)
  const wide sums = s.v[0] + s.v[1];
  return part_of(sums, 0) + part_of(sums, 1);
#else
  return (s.v[0] + s.v[2]) + (s.v[1] + s.v[3]);
#endif
}
/// Sum over the 32 lanes, by halves: 32 to 16, 8, 4, 2, 1.
ODRPO_HD float add_halves(const Lanes& s) { return add_halves(fold(s)); }

/// The O of kernels/float_math.hpp for vectors.
template <class Floats, class Integers, class Bits>
struct LanesOf {
  using F = Floats;
  using I = Integers;
  using U = Bits;
  ODRPO_HD U bits(F x) { return (U)x; }
  ODRPO_HD F floats(U x) { return (F)x; }
  ODRPO_HD F real(I x) { return __builtin_convertvector(x, F); }
  ODRPO_HD F keep_nan(F, F y) { return y; }
};
using VectorLanes = LanesOf<f32x8, i32x8, u32x8>;
ODRPO_HD f32x8 exp_negative(f32x8 x) { return float_math::exp_negative<VectorLanes>(x); }
ODRPO_HD f32x8 log_positive(f32x8 x) { return float_math::log_positive<VectorLanes>(x); }
#if defined(__AVX512F__)
ODRPO_HD wide exp_negative(wide x) { return float_math::exp_negative<LanesOf<wide, wide_i, wide_u>>(x); }
#endif

}  // namespace odrpo::ODRPO_ISA
