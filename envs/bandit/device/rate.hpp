// The outcome of one random word, as one thread of a device finds it: the number of thresholds that the word exceeds. (rate_stage.cpp)
#pragma once
#include <cstdint>

#include "kernels/portable.hpp"

namespace odrpo::device {

/// Eight thresholds in two loads; rows start at multiples of eight.
struct Eight {
  std::int32_t x[8];
};
ODRPO_HD Eight load_eight(const std::int32_t* p) {
#if defined(__CUDA_ARCH__)
  const int4 a = __ldg(reinterpret_cast<const int4*>(p)), b = __ldg(reinterpret_cast<const int4*>(p) + 1);
  return {{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
#else
  Eight e;
  __builtin_memcpy(&e, p, sizeof e);
  return e;
#endif
}

/// How many of a row's thresholds, `stride` of them in ascending order, lie below x.
ODRPO_HD int exceeded(const std::int32_t* threshold, int stride, std::int32_t x) {
  int n = 0, rest = stride;
  while (rest > 32) {  // the answer stays in [n, n + rest]
    const int half = rest / 16 * 8;
    n += threshold[n + half - 1] < x ? half : 0;
    rest -= half;
  }
  const std::int32_t* from = threshold + n;
  for (int k = 0; k < rest; k += 8) {
    const Eight e = load_eight(from + k);
    ODRPO_UNROLL
    for (int j = 0; j < 8; ++j) n += x > e.x[j] ? 1 : 0;
  }
  return n;
}

}  // namespace odrpo::device
