// Computes elementary functions by + - * / sqrt alone, so that all machines and compilers give the same bits. (libm differs between CPUs.)
#pragma once
#include <cstdint>

#include "kernels/portable.hpp"

namespace odrpo {
/// The value of a statistic that does not exist: NaN, never 0.
inline constexpr double undefined = __builtin_nan("");
}  // namespace odrpo

namespace odrpo::math {

inline constexpr double pi = 3.14159265358979323846;

ODRPO_HD double sqrt(double x) { return __builtin_sqrt(x); }
ODRPO_HD float sqrt(float x) { return __builtin_sqrtf(x); }
ODRPO_HD double abs(double x) { return x < 0 ? -x : x; }
ODRPO_HD double from_bits(std::uint64_t b) { return __builtin_bit_cast(double, b); }
ODRPO_HD std::uint64_t to_bits(double x) { return __builtin_bit_cast(std::uint64_t, x); }

/// Largest integer <= x, |x| < 2^51. T: double, or a vector of doubles.
template <class T>
ODRPO_HD T whole_below(T x) {
  const T r = (x + 0x1.8p52) - 0x1.8p52;  // nearest integer, ties to even
  return r > x ? r - 1.0 : r;
}
ODRPO_HD double floor(double x) { return whole_below(x); }

/// e^x, relative error below 1 ulp or so; 0 below -745 (below -708 where subnormals are flushed), infinity above 709.78.
ODRPO_HD double exp(double x) {
  if (x != x) return x;
  if (x > 709.78271289338397) return from_bits(0x7ff0000000000000u);
  if (x < -745.13321910194122) return 0.0;
  // x = n ln 2 + r, |r| <= ln 2 / 2
  const double shifted = x * 1.4426950408889634 + 0x1.8p52;
  const double n = shifted - 0x1.8p52;
  const double r = (x - n * 0x1.62e42fee00000p-1) - n * 0x1.a39ef35793c76p-33;
  double p = 1.0 / 6227020800.0;  // Taylor series to r^13: the terms left out are below 4e-18
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  const double y = 1.0 + (r + (r * r) * p);
  // multiplies by 2^n in two steps, so that a subnormal result is rounded only once
  const int k = static_cast<int>(n), half = k / 2;
  return y * from_bits(static_cast<std::uint64_t>(1023 + half) << 52) * from_bits(static_cast<std::uint64_t>(1023 + k - half) << 52);
}

/// ln(m 2^n), 1 <= m < 2, of whole n. T: double, or a vector of doubles.
template <class T>
ODRPO_HD T log_of(T m, T n) {
  n = m > 1.4142135623730951 ? n + 1.0 : n;
  m = m > 1.4142135623730951 ? m * 0.5 : m;
  // ln m = 2 atanh(s), s = (m-1)/(m+1), s^2 <= 0.0295: the terms of the series after s^21 are below 2e-18
  const T f = m - 1.0, s = f / (2.0 + f), z = s * s;
  T p = z * (1.0 / 21.0) + 1.0 / 19.0;
  p = p * z + 1.0 / 17.0;
  p = p * z + 1.0 / 15.0;
  p = p * z + 1.0 / 13.0;
  p = p * z + 1.0 / 11.0;
  p = p * z + 1.0 / 9.0;
  p = p * z + 1.0 / 7.0;
  p = p * z + 1.0 / 5.0;
  p = p * z + 1.0 / 3.0;
  return n * 0x1.62e42fee00000p-1 + (2.0 * s + (n * 0x1.a39ef35793c76p-33 + 2.0 * s * z * p));
}

/// ln x for x > 0; -infinity at 0, NaN below. Under FlushSubnormals a subnormal x counts as 0.
ODRPO_HD double log(double x) {
  if (x != x || x < 0) return from_bits(0x7ff8000000000000u);
  if (x == 0) return from_bits(0xfff0000000000000u);
  int e = 0;
  if (x < 0x1p-1022) {
    x = x * 0x1p54;
    e = -54;
  }
  std::uint64_t b = to_bits(x);
  if ((b >> 52) == 0x7ff) return x;
  e += static_cast<int>(b >> 52) - 1023;
  return log_of(from_bits((b & 0x000fffffffffffffu) | 0x3ff0000000000000u), static_cast<double>(e));
}

/// Sine and cosine of 2 pi u, u in [0, 1]. T: double, or a vector of doubles.
template <class T>
struct SinCos {
  T sin, cos;
};
template <class T>
ODRPO_HD SinCos<T> sincos_turn(T u) {
  const T t = 4.0 * u, q = whole_below(t + 0.5);
  const T r = (t - q) * (pi / 2), z = r * r;                               // |r| <= pi / 4
  T s = z * (-1.0 / 121645100408832000.0) + 1.0 / 355687428096000.0;  // Taylor series to r^19 (sine) and r^18 (cosine)
  s = s * z - 1.0 / 1307674368000.0;
  s = s * z + 1.0 / 6227020800.0;
  s = s * z - 1.0 / 39916800.0;
  s = s * z + 1.0 / 362880.0;
  s = s * z - 1.0 / 5040.0;
  s = s * z + 1.0 / 120.0;
  s = s * z - 1.0 / 6.0;
  s = r + r * z * s;
  T c = z * (-1.0 / 6402373705728000.0) + 1.0 / 20922789888000.0;
  c = c * z - 1.0 / 87178291200.0;
  c = c * z + 1.0 / 479001600.0;
  c = c * z - 1.0 / 3628800.0;
  c = c * z + 1.0 / 40320.0;
  c = c * z - 1.0 / 720.0;
  c = c * z + 1.0 / 24.0;
  c = 1.0 + z * (-0.5 + z * c);
  // q quarter turns: 0 and 4 none
  const T sine = ((q == 1.0) | (q == 3.0)) ? c : s, cosine = ((q == 1.0) | (q == 3.0)) ? s : c;
  return {((q == 2.0) | (q == 3.0)) ? -sine : sine, ((q == 1.0) | (q == 2.0)) ? -cosine : cosine};
}

/// Arc sine, |x| <= 1; NaN beyond. Relative error of some units in the last place. Uses the Taylor series, no fitted numbers.
ODRPO_HD double asin(double x) {
  if (x < 0) return -asin(-x);
  if (!(x <= 1)) return from_bits(0x7ff8000000000000u);
  if (x > 0.5) return pi / 2 - 2.0 * asin(sqrt(0.5 * (1.0 - x)));  // asin x = pi/2 - 2 asin sqrt((1-x)/2)
  // x sum_n (2n-1)!!/(2n)!! x^2n / (2n+1), summed from the last term; at x = 1/2 the terms after the 30th are below 1e-20
  const double z = x * x;
  double f = 1.0;
  for (int n = 30; n > 0; --n) f = 1.0 + z * ((2.0 * n - 1.0) * (2.0 * n - 1.0)) / (2.0 * n * (2.0 * n + 1.0)) * f;
  return x * f;
}

/// Complementary error function, relative error below 2e-13. Uses a power series and a continued fraction, no fitted numbers.
ODRPO_HD double erfc(double x) {
  if (x < 0) return 2.0 - erfc(-x);
  if (x > 27.3) return 0.0;
  const double g = exp(-x * x);
  if (x < 2.0) {
    // erf x = 2/sqrt(pi) e^{-x^2} sum_n 2^n x^{2n+1} / (2n+1)!!, all terms positive
    double term = x, sum = x;
    for (int n = 1; n < 64; ++n) {
      term = term * (2.0 * x * x) / (2.0 * n + 1.0);
      sum = sum + term;
    }
    return 1.0 - 1.1283791670955126 * g * sum;
  }
  // continued fraction x + (1/2)/(x + 1/(x + (3/2)/(x + ...))), computed from its end; 80 terms suffice for x >= 2
  double f = x;
  for (int n = 80; n > 0; --n) f = x + (0.5 * n) / f;
  return g / (f * 1.7724538509055161);
}

/// Standard normal density.
ODRPO_HD double normal_density(double x) { return 0.3989422804014327 * exp(-0.5 * x * x); }

/// Standard normal distribution function.
ODRPO_HD double normal_cdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752); }

/// Probability that a standard normal variable is in (a, b], computed in the smaller tail so that no digits cancel.
ODRPO_HD double normal_interval(double a, double b) {
  const double s = 0.70710678118654752;
  if (a > 0) return 0.5 * (erfc(a * s) - erfc(b * s));
  return 0.5 * (erfc(-b * s) - erfc(-a * s));
}

/// Quantile of the standard normal, 0 < p < 1, by bisection to the last bit that normal_cdf() can resolve. Too slow for inner loops.
ODRPO_HD double normal_quantile(double p) {
  double low = -40, high = 40;
  for (int i = 0; i < 80; ++i) {
    const double mid = 0.5 * (low + high);
    if (normal_cdf(mid) < p) low = mid;
    else high = mid;
  }
  return 0.5 * (low + high);
}

/// Two independent standard normal numbers from four random words (Box-Muller); kernels/random_batch.hpp makes many.
struct Normal2 {
  double a, b;
};
ODRPO_HD Normal2 normal_pair(const std::uint32_t x[4]) {
  const double u = (static_cast<double>(((static_cast<std::uint64_t>(x[0]) << 32) | x[1]) >> 11) + 1.0) * 0x1p-53;  // (0, 1]
  const double v = static_cast<double>(((static_cast<std::uint64_t>(x[2]) << 32) | x[3]) >> 11) * 0x1p-53;
  const double radius = sqrt(-2.0 * log(u));
  const SinCos<double> w = sincos_turn(v);
  return {radius * w.cos, radius * w.sin};
}

}  // namespace odrpo::math
