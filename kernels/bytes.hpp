// Four scores in a word, and pairs of floats: what host and device spell differently.
#pragma once
#include <cstdint>

#include "kernels/portable.hpp"

namespace odrpo {

ODRPO_HD int byte_of(std::uint32_t word, int i) { return static_cast<int>(word >> (8 * i) & 255u); }

/// Bit `bit` of each byte that is >= level, for bytes below 2^bit and levels up to that.
ODRPO_HD std::uint32_t bytes_from(std::uint32_t word, int level, int bit) {
  const std::uint32_t marks = 0x01010101u << bit;
  return ((word | marks) - static_cast<std::uint32_t>(level) * 0x01010101u) & marks;
}

ODRPO_HD int count_ones(std::uint32_t x) {
#if defined(__CUDA_ARCH__)
  return __popc(x);
#else
  return __builtin_popcount(x);
#endif
}

/// sum + a0 b0 + a1 b1 + a2 b2 + a3 b3 over the bytes of two words.
ODRPO_HD std::uint32_t add_products(std::uint32_t a, std::uint32_t b, std::uint32_t sum) {
#if defined(__CUDA_ARCH__)
  return __dp4a(a, b, sum);
#else
  for (int i = 0; i < 4; ++i) sum += static_cast<std::uint32_t>(byte_of(a, i) * byte_of(b, i));
  return sum;
#endif
}

/// Loads n words that are read once (past the cache's long-lived lines), n 2 or 4; `from` aligned to all of them.
template <int n>
ODRPO_HD void load_words(const std::uint8_t* from, std::uint32_t (&word)[n]) {
  static_assert(n == 2 || n == 4);
#if defined(__CUDA_ARCH__)
  if constexpr (n == 2) {
    const uint2 v = __ldcs(reinterpret_cast<const uint2*>(from));
    word[0] = v.x, word[1] = v.y;
  } else {
    const uint4 v = __ldcs(reinterpret_cast<const uint4*>(from));
    word[0] = v.x, word[1] = v.y, word[2] = v.z, word[3] = v.w;
  }
#else
  __builtin_memcpy(word, from, 4 * n);
#endif
}
/// Keeps n words; `to` aligned to all of them.
template <int n>
ODRPO_HD void keep_words(std::uint32_t* to, const std::uint32_t (&word)[n]) {
#if defined(__CUDA_ARCH__)
  if constexpr (n == 2) *reinterpret_cast<uint2*>(to) = make_uint2(word[0], word[1]);
  else *reinterpret_cast<uint4*>(to) = make_uint4(word[0], word[1], word[2], word[3]);
#else
  __builtin_memcpy(to, word, 4 * n);
#endif
}
/// Stores four floats that nobody reads soon; `to` aligned to 16 bytes.
ODRPO_HD void store_four(float* to, float a, float b, float c, float d) {
#if defined(__CUDA_ARCH__)
  __stcs(reinterpret_cast<float4*>(to), make_float4(a, b, c, d));
#else
  to[0] = a, to[1] = b, to[2] = c, to[3] = d;
#endif
}

struct Two {
  float x, y;
};
/// p[0], p[1] of a table that nobody writes meanwhile; p aligned to 8 bytes.
ODRPO_HD Two load_two(const float* p) {
#if defined(__CUDA_ARCH__)
  const float2 v = __ldg(reinterpret_cast<const float2*>(p));
  return {v.x, v.y};
#else
  return {p[0], p[1]};
#endif
}

}  // namespace odrpo
