// Computes Philox4x32-10 on four or eight counter blocks per SIMD vector. A 64-bit lane has a 32-bit word in its low half; its upper half has no meaning.
#include "kernels/math.hpp"
#include "kernels/random.hpp"
#include "kernels/random_batch.hpp"
#include "kernels/simd.hpp"

namespace odrpo::ODRPO_ISA {

// All lanes of a vector.
template <class Vector>
ODRPO_HD Vector all(std::uint64_t x) { return Vector{} + x; }

// The two 32-bit halves of the random key in each of the ten rounds.
template <class Vector>
struct RoundKeys {
  Vector k0[10], k1[10];
};
template <class Vector>
ODRPO_HD RoundKeys<Vector> round_keys(std::uint64_t key) {
  RoundKeys<Vector> keys;
  std::uint32_t k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    keys.k0[round] = all<Vector>(k0);
    keys.k1[round] = all<Vector>(k1);
    k0 += PHILOX_W32_0;
    k1 += PHILOX_W32_1;
  }
  return keys;
}

// Does the ten rounds for the counters of all lanes at once. Multipliers and key increments are Philox's constants.
template <class Vector>
ODRPO_HD void philox_rounds(Vector& c0, Vector& c1, Vector& c2, Vector& c3, const RoundKeys<Vector>& keys) {
  const Vector m0 = all<Vector>(PHILOX_M4x32_0), m1 = all<Vector>(PHILOX_M4x32_1);
  ODRPO_UNROLL
  for (int round = 0; round < 10; ++round) {
    const Vector p0 = multiply_low(c0, m0), p1 = multiply_low(c2, m1);
    c0 = (p1 >> 32) ^ c1 ^ keys.k0[round];
    c1 = p1;
    c2 = (p0 >> 32) ^ c3 ^ keys.k1[round];
    c3 = p0;
  }
}

// Neighbouring lanes of a and b: of their first halves, or of their second ones.
#if defined(__AVX512F__)
ODRPO_HD wide_u64 first_pairs(wide_u64 a, wide_u64 b) { return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11); }
ODRPO_HD wide_u64 second_pairs(wide_u64 a, wide_u64 b) { return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15); }
#else
ODRPO_HD wide_u64 first_pairs(wide_u64 a, wide_u64 b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
ODRPO_HD wide_u64 second_pairs(wide_u64 a, wide_u64 b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }
#endif

static void fill(std::uint32_t* out, std::uint64_t key, Purpose purpose, std::uint32_t step, const std::uint32_t* prompt, int count,
                 std::uint32_t first_block, int blocks) {
  typedef wide_u64 loose __attribute__((aligned(4), may_alias));
  constexpr int chunk = 128;  // how many counters are written to memory before their rounds
  constexpr int lanes = sizeof(wide_u64) / sizeof(std::uint64_t);
  alignas(64) std::uint64_t prompts[chunk], places[chunk];
  const std::uint64_t what = static_cast<std::uint32_t>(purpose), when = step;
  const RoundKeys<wide_u64> keys = round_keys<wide_u64>(key);
  const int total = count * blocks;
  int i = 0, b = 0;  // the next counter: prompt[i], first_block + b
  for (int start = 0; start < total; start += chunk) {
    const int here = total - start < chunk ? total - start : chunk;
    for (int n = 0; n < here; ++n) {
      prompts[n] = prompt[i];
      places[n] = first_block + static_cast<std::uint32_t>(b);
      if (++b == blocks) {
        b = 0;
        ++i;
      }
    }
    for (int n = here; n % lanes != 0; ++n) prompts[n] = places[n] = 0;
    for (int n = 0; n < here; n += lanes) {
      wide_u64 c0 = all<wide_u64>(what), c1 = all<wide_u64>(when);
      wide_u64 c2 = *reinterpret_cast<const loose*>(prompts + n), c3 = *reinterpret_cast<const loose*>(places + n);
      philox_rounds(c0, c1, c2, c3, keys);
      // (word0, word1) and (word2, word3) of a counter block become neighbours
      const wide_u64 w01 = (c0 & 0xffffffffu) | (c1 << 32), w23 = (c2 & 0xffffffffu) | (c3 << 32);
      std::uint32_t tail[4 * lanes], *to = here - n >= lanes ? out + 4 * (start + n) : tail;
      *reinterpret_cast<loose*>(to) = first_pairs(w01, w23);
      *reinterpret_cast<loose*>(to + 2 * lanes) = second_pairs(w01, w23);
      if (here - n < lanes)
        for (int w = 0; w < 4 * (here - n); ++w) out[4 * (start + n) + w] = tail[w];
    }
  }
}

// (x * 2^32 + y) / 2^11 as an integer below 2^53; x and y have a word in the low half of each lane
ODRPO_HD f64x4 mantissa(u64x4 x, u64x4 y) { return to_double(x & 0xffffffffu) * 0x1p21 + to_double((y & 0xffffffffu) >> 11); }

// What math::normal_pair() does, on four counter blocks
static void normals(double* out, std::uint64_t key, Purpose purpose, std::uint32_t prompt, int blocks) {
  typedef f64x4 f64x4_loose __attribute__((aligned(8), may_alias));
  const std::uint64_t what = static_cast<std::uint32_t>(purpose), who = prompt;
  const RoundKeys<u64x4> keys = round_keys<u64x4>(key);
  for (int b = 0; b < blocks; b += 4) {
    const std::uint64_t n = static_cast<std::uint64_t>(b);
    u64x4 c0 = all<u64x4>(what), c1 = {}, c2 = all<u64x4>(who), c3 = {n, n + 1, n + 2, n + 3};
    philox_rounds(c0, c1, c2, c3, keys);
    const f64x4 u = (mantissa(c0, c1) + 1.0) * 0x1p-53, v = mantissa(c2, c3) * 0x1p-53;
    // math::log(): u is no subnormal and at most 1
    const u64x4 bits = (u64x4)u;
    const f64x4 m = (f64x4)((bits & 0x000fffffffffffffu) | 0x3ff0000000000000u);
    const f64x4 radius = sqrt(-2.0 * math::log_of(m, to_double(bits >> 52) - 1023.0));
    const math::SinCos<f64x4> w = math::sincos_turn(v);
    const f64x4 x = radius * w.cos, y = radius * w.sin;
    const f64x4 first = __builtin_shufflevector(x, y, 0, 4, 1, 5), second = __builtin_shufflevector(x, y, 2, 6, 3, 7);
    double tail[8], *to = blocks - b >= 4 ? out + 2 * b : tail;
    *reinterpret_cast<f64x4_loose*>(to) = first;
    *reinterpret_cast<f64x4_loose*>(to + 4) = second;
    if (blocks - b < 4)
      for (int i = 0; i < 2 * (blocks - b); ++i) out[2 * b + i] = tail[i];
  }
}

extern const RandomStages random_table;
const RandomStages random_table = {fill, normals};

}  // namespace odrpo::ODRPO_ISA
