// Four scores in a word, and pairs of floats: what host and device spell differently.
#pragma once
#include <cstdint>

#include "kernels/portable.hpp"

namespace odrpo {

ODRPO_HD int byte_of(std::uint32_t word, int i) { return static_cast<int>(word >> (8 * i) & 255u); }

/// Bit 7 of each byte that is >= level; bytes and level below 128.
ODRPO_HD std::uint32_t bytes_from(std::uint32_t word, int level) {
  return ((word | 0x80808080u) - static_cast<std::uint32_t>(level) * 0x01010101u) & 0x80808080u;
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
