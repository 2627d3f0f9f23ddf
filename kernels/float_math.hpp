// Computes exp and log in float. One code serves vectors of eight floats on a CPU and single floats of a GPU thread, with the same bits.
#pragma once
#include <cstdint>

#include "kernels/portable.hpp"

namespace odrpo::float_math {

// The template parameter O has the types and operations of the caller's numbers: those of simd.hpp for vectors, of a tile for GPU threads.
// O::F are floats, O::I and O::U integers; O::bits and O::floats reinterpret bits, O::real converts integers to floats. O::keep_nan(x, y)
// is y, or NaN where x is NaN. (exp_negative() works on bits. That keeps the NaN of most processors, whose low bits are 0, but not CUDA's
// 0x7fffffff.)

/// e^x for x <= 0 (a softmax's x - max); exactly 0 below -87. Relative error below 2e-7 + 8e-8 |x|, mostly from rounding 1.44 x to float.
template <class O>
ODRPO_HD typename O::F exp_negative(typename O::F x) {
  using F = typename O::F;
  // e^x = 2^y, y = n + f, |f| <= 1/2; 2^f = 1 + f q(f), q of degree 4, fitted to minimise the largest relative error
  const F y = x * 1.44269504f, shifted = y + 12582912.0f, f = y - (shifted - 12582912.0f);
  F p = f * 0.0013264727253f + 0.0096715127858f;
  p = p * f + 0.055507337445f;
  p = p * f + 0.24022242083f;
  p = p * f + 0.6931469776f;
  p = p * f + 1.0f;
  const typename O::U exponent = O::bits(shifted) << 23;  // the low bits of `shifted` hold n; the shift drops its other bits
  const F z = O::keep_nan(x, O::floats(O::bits(p) + exponent));
  return x < -87.0f ? F{} : z;
}

/// ln x for normal x > 0, error about 1 ulp.
template <class O>
ODRPO_HD typename O::F log_positive(typename O::F x) {
  using F = typename O::F;
  using I = typename O::I;
  const I b = (I)O::bits(x);
  // x = 2^e m, m in [sqrt(1/2), sqrt(2)): subtracting the bits of sqrt(1/2) puts the borders of the exponent there
  const I e = (b - 0x3f3504f3) >> 23;
  const F m = O::floats((typename O::U)b - ((typename O::U)e << 23));
  const F f = m - 1.0f, s = f / (2.0f + f), z = s * s;
  F p = z * (1.0f / 9.0f) + 1.0f / 7.0f;
  p = p * z + 1.0f / 5.0f;
  p = p * z + 1.0f / 3.0f;
  const F n = O::real(e);
  return n * 0.693359375f + (2.0f * s + (n * -2.12194440e-4f + 2.0f * s * z * p));
}

/// Sum of 32 numbers; lane l of the tile holds numbers l, l + 8, l + 16 and l + 24. The order of additions is that of add_halves(Lanes) in
/// simd.hpp: 32 to 16 to 8 partial sums, then o.sum().
template <class O>
ODRPO_HD float sum_lanes(const O& o, const typename O::F (&x)[4]) {
  return o.sum((x[0] + x[2]) + (x[1] + x[3]));
}

/// The O of code that works on one float at a time: a GPU thread, or plain code.
struct ScalarLane {
  using F = float;
  using I = std::int32_t;
  using U = std::uint32_t;
  ODRPO_HD U bits(F x) { return __builtin_bit_cast(U, x); }
  ODRPO_HD F floats(U x) { return __builtin_bit_cast(F, x); }
  ODRPO_HD F real(I x) { return static_cast<F>(x); }
  ODRPO_HD F keep_nan(F x, F y) { return x == x ? y : x; }
};

}  // namespace odrpo::float_math
