// The arithmetic of a policy's row for any number of lanes: the stages' vectors of eight, and the one float of a GPU's thread.
#pragma once
#include "kernels/math.hpp"
#include "kernels/portable.hpp"
#include "policies/optimizer.hpp"

namespace odrpo::row_math {

/// Norm of a gradient of n elements, given their sum of squares in float; summed again, one by one in double, where floats cannot hold it.
ODRPO_HD double gradient_norm(float square_sum, const float* gradient, int n) {
  double squares = static_cast<double>(square_sum);
  if (!(squares < 1e30 && squares > 1e-30)) {
    squares = 0;
    for (int i = 0; i < n; ++i) squares += static_cast<double>(gradient[i]) * static_cast<double>(gradient[i]);
  }
  return math::sqrt(squares);
}

/// What a gradient is multiplied by so that its norm does not exceed the clip; clip 0 = never.
ODRPO_HD float clip_factor(double norm, double clip) { return clip > 0 && norm > clip ? static_cast<float>(clip / norm) : 1.0f; }

// Pending steps of a parameter x with first moment m and root of the second: x <- decay_j x + rate_j m / d_j with d_j = root scale_j +
// eps. Two steps share one division, or four where the product of four d's can neither underflow nor overflow.

/// Four steps' product of d's is in range for roots below this, and an eps that allows it.
inline constexpr float highest_root = 1e6f;
/// math::sqrt(v) < highest_root exactly when v is below this.
inline constexpr float highest_square = 1e12f;
ODRPO_HD bool eps_allows_four(float eps) { return eps >= 1e-9f; }

struct FourSteps {
  float k0123, r0, r1, r2, r3, s0, s1, s2, s3;
};
ODRPO_HD FourSteps four_steps(const PendingStep* s) {
  const float k3 = s[3].decay, k23 = s[2].decay * k3, k123 = s[1].decay * k23;
  return {s[0].decay * k123, s[0].rate * k123, s[1].rate * k23, s[2].rate * k3, s[3].rate, s[0].scale, s[1].scale, s[2].scale, s[3].scale};
}
template <class F>
ODRPO_HD F taken(const FourSteps& s, F x, F m, F root, float eps) {
  const F d0 = root * s.s0 + eps, d1 = root * s.s1 + eps, d2 = root * s.s2 + eps, d3 = root * s.s3 + eps;
  const F d01 = d0 * d1, d23 = d2 * d3, first = s.r0 * d1 + s.r1 * d0, second = s.r2 * d3 + s.r3 * d2;
  return s.k0123 * x + m * ((first * d23 + second * d01) / (d01 * d23));
}

struct TwoSteps {
  float k01, r0, r1, s0, s1;
};
ODRPO_HD TwoSteps two_steps(const PendingStep* s) {
  return {s[0].decay * s[1].decay, s[0].rate * s[1].decay, s[1].rate, s[0].scale, s[1].scale};
}
template <class F>
ODRPO_HD F taken(const TwoSteps& s, F x, F m, F root, float eps) {
  const F d0 = root * s.s0 + eps, d1 = root * s.s1 + eps;
  return s.k01 * x + m * ((s.r0 * d1 + s.r1 * d0) / (d0 * d1));
}

template <class F>
ODRPO_HD F taken(const PendingStep& s, F x, F m, F root, float eps) {
  return s.decay * x + m * (s.rate / (root * s.scale + eps));
}

/// Takes `n` pending steps in the order that every processor keeps: take(step or steps) for each.
template <class Take>
ODRPO_HD void take_pending(const PendingStep* steps, int n, bool four_at_once, Take take) {
  for (int j = 0; j < n;) {
    const PendingStep* s = steps + j;
    if (four_at_once && j + 3 < n) {
      take(four_steps(s));
      j += 4;
    } else if (j + 1 < n) {
      take(two_steps(s));
      j += 2;
    } else {
      take(*s);
      j += 1;
    }
  }
}

/// Adam's moments with a gradient g: keep = beta^n over the n steps since the last one, rest = 1 - beta.
template <class F>
ODRPO_HD F first_moment(float keep, F m, float rest, F g) {
  return keep * m + rest * g;
}
template <class F>
ODRPO_HD F second_moment(float keep, F v, float rest, F g) {
  return keep * v + rest * (g * g);
}

/// A rollout's coefficient before scaling: its advantage's part, less the gradient of the k3 estimate of the KL divergence.
template <class F>
ODRPO_HD F penalised(F part, F probability, float kl, float reference) {
  return kl > 0 ? part - kl * (1.0f - reference / probability) : part;
}

}  // namespace odrpo::row_math
