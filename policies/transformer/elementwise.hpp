// Defines the transformer's scalar formulas once, for the CPU's stages and for the tiles of a device.
#pragma once
#include "kernels/float_math.hpp"

namespace odrpo::float_math {

/// RMSNorm adds this to the mean square before it takes the root.
inline constexpr float norm_eps = 1e-5f;

/// The gate of gelu(x) = x gate(x): gate(x) = sigma(2 sqrt(2 / pi) (x + 0.044715 x^3)), sigma = logistic function.
template <class O>
ODRPO_HD typename O::F gelu_gate(typename O::F x) {
  using F = typename O::F;
  const F y = 1.59576912f * (x + 0.044715f * (x * x * x)), e = exp_negative<O>(y > 0.0f ? -y : y), r = 1.0f / (1.0f + e);
  return y > 0.0f ? r : e * r;
}

/// The derivative gelu'(x), from the gate s of x and h = x s.
template <class O>
ODRPO_HD typename O::F gelu_slope(typename O::F x, typename O::F s, typename O::F h) {
  return s + h * (1.0f - s) * (1.59576912f + 0.214070913f * (x * x));
}

/// Returns ln p of a token from its logit, but at least -200. e^-200 is already 0 in a float; 0 times a finite number is 0, not NaN.
template <class O>
ODRPO_HD typename O::F log_probability(typename O::F logit, float inverse_temperature, float log_total) {
  using F = typename O::F;
  const F z = logit * inverse_temperature - log_total, low = z < 0.0f ? z : F{};
  return low > -200.0f ? low : F{} - 200.0f;
}

/// Returns the objective's derivative by a token's logit, l = ln p of the token. The caller adds the terms of the tokens that were chosen.
template <class O>
ODRPO_HD typename O::F logit_slope(typename O::F l, float inverse_temperature, float entropy, float coefficient, float bonus) {
  return -inverse_temperature * exp_negative<O>(l) * (coefficient + bonus * (l + entropy));
}

}  // namespace odrpo::float_math
