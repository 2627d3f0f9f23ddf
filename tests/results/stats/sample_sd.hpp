// Integrates over the distribution of a sample's standard deviation: the power of t tests from their definition, without a noncentral t.
#pragma once
#include <cmath>

namespace odrpo {

/// The expectation of f(s), s = the sample sd over the true one, of a normal sample with that many degrees of freedom. Simpson's rule.
template <class F>
double over_sample_sd(int freedom, F f) {
  const double v = freedom, top = 1 + 10 / std::sqrt(2 * v);
  const double scale =
      std::log(2) + v / 2 * std::log(v / 2) - std::lgamma(v / 2);  // of the density 2 (v/2)^(v/2) / Gamma(v/2) s^(v-1) e^(-v s^2/2)
  const int steps = 2000;
  double sum = 0;
  for (int i = 1; i < steps; ++i) {
    const double s = top * i / steps;
    sum += (i % 2 == 1 ? 4 : 2) * std::exp(scale + (v - 1) * std::log(s) - v * s * s / 2) * f(s);
  }
  return sum * top / steps / 3;
}

inline double normal_below(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

/// The probability that (Z + shift) / s is above `limit`, Z standard normal and apart from s.
inline double t_above(double shift, double limit, int freedom) {
  return over_sample_sd(freedom, [&](double s) { return normal_below(shift - limit * s); });
}

}  // namespace odrpo
