// Computes Philox4x32-10 on four counter blocks per SIMD vector. A 64-bit lane has a 32-bit word in its low half; its upper half has no meaning.
#include "kernels/math.hpp"
#include "kernels/random.hpp"
#include "kernels/random_batch.hpp"
#include "kernels/simd.hpp"

namespace odrpo::ODRPO_ISA {

// The two 32-bit halves of the random key in each of the ten rounds.
struct RoundKeys {
  u64x4 k0[10], k1[10];
};
ODRPO_HD RoundKeys round_keys(std::uint64_t key) {
  RoundKeys keys;
  std::uint32_t k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    keys.k0[round] = u64x4{k0, k0, k0, k0};
    keys.k1[round] = u64x4{k1, k1, k1, k1};
    k0 += PHILOX_W32_0;
    k1 += PHILOX_W32_1;
  }
  return keys;
}

// Does the ten rounds for four counters at once. Multipliers and key increments are Philox's constants.
ODRPO_HD void philox_rounds(u64x4& c0, u64x4& c1, u64x4& c2, u64x4& c3, const RoundKeys& keys) {
  const u64x4 m0 = {PHILOX_M4x32_0, PHILOX_M4x32_0, PHILOX_M4x32_0, PHILOX_M4x32_0};
  const u64x4 m1 = {PHILOX_M4x32_1, PHILOX_M4x32_1, PHILOX_M4x32_1, PHILOX_M4x32_1};
  ODRPO_UNROLL
  for (int round = 0; round < 10; ++round) {
    const u64x4 p0 = multiply_low(c0, m0), p1 = multiply_low(c2, m1);
    c0 = (p1 >> 32) ^ c1 ^ keys.k0[round];
    c1 = p1;
    c2 = (p0 >> 32) ^ c3 ^ keys.k1[round];
    c3 = p0;
  }
}

static void fill(std::uint32_t* out, std::uint64_t key, Purpose purpose, std::uint32_t step, const std::uint32_t* prompt, int count,
                 std::uint32_t first_block, int blocks) {
  typedef u64x4 u64x4_loose __attribute__((aligned(4), may_alias));
  constexpr int chunk = 128;  // how many counters are written to memory before their rounds
  alignas(32) std::uint64_t prompts[chunk], places[chunk];
  const std::uint64_t what = static_cast<std::uint32_t>(purpose), when = step;
  const RoundKeys keys = round_keys(key);
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
    for (int n = here; n % 4 != 0; ++n) prompts[n] = places[n] = 0;
    for (int n = 0; n < here; n += 4) {
      u64x4 c0 = {what, what, what, what}, c1 = {when, when, when, when};
      u64x4 c2 = *reinterpret_cast<const u64x4_loose*>(prompts + n), c3 = *reinterpret_cast<const u64x4_loose*>(places + n);
      philox_rounds(c0, c1, c2, c3, keys);
      // (word0, word1) and (word2, word3) of a counter block become neighbours
      const u64x4 w01 = (c0 & 0xffffffffu) | (c1 << 32), w23 = (c2 & 0xffffffffu) | (c3 << 32);
      const u64x4 low = __builtin_shufflevector(w01, w23, 0, 4, 1, 5), high = __builtin_shufflevector(w01, w23, 2, 6, 3, 7);
      std::uint32_t tail[16], *to = here - n >= 4 ? out + 4 * (start + n) : tail;
      *reinterpret_cast<u64x4_loose*>(to) = low;
      *reinterpret_cast<u64x4_loose*>(to + 8) = high;
      if (here - n < 4)
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
  const RoundKeys keys = round_keys(key);
  for (int b = 0; b < blocks; b += 4) {
    const std::uint64_t n = static_cast<std::uint64_t>(b);
    u64x4 c0 = {what, what, what, what}, c1 = {}, c2 = {who, who, who, who}, c3 = {n, n + 1, n + 2, n + 3};
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
