// The transformer's formulas of one number, written once for the CPU's stages and for tiles.
#pragma once
#include "kernels/float_math.hpp"

namespace odrpo::float_math {

/// Added to the mean square under RMSNorm's root.
inline constexpr float norm_eps = 1e-5f;

/// sigma(2 sqrt(2 / pi) (x + 0.044715 x^3)): gelu(x) = x times it.
template <class O>
ODRPO_HD typename O::F gelu_gate(typename O::F x) {
  using F = typename O::F;
  const F y = 1.59576912f * (x + 0.044715f * (x * x * x)), e = exp_negative<O>(y > 0.0f ? -y : y), r = 1.0f / (1.0f + e);
  return y > 0.0f ? r : e * r;
}

/// gelu'(x) from the gate s of x and h = x s.
template <class O>
ODRPO_HD typename O::F gelu_slope(typename O::F x, typename O::F s, typename O::F h) {
  return s + h * (1.0f - s) * (1.59576912f + 0.214070913f * (x * x));
}

/// A logit's ln p under the temperature; -200 stands for less, whose exponent is 0, so that 0 times it is 0.
template <class O>
ODRPO_HD typename O::F log_probability(typename O::F logit, float inverse_temperature, float log_total) {
  using F = typename O::F;
  const F z = logit * inverse_temperature - log_total, low = z < 0.0f ? z : F{};
  return low > -200.0f ? low : F{} - 200.0f;
}

/// Derivative of the objective by a logit, less what the chosen tokens add: l = ln p of its token.
template <class O>
ODRPO_HD typename O::F logit_slope(typename O::F l, float inverse_temperature, float entropy, float coefficient, float bonus) {
  return -inverse_temperature * exp_negative<O>(l) * (coefficient + bonus * (l + entropy));
}

}  // namespace odrpo::float_math
