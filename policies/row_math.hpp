// Computes clipping, Adam and rollouts' coefficients for any number of lanes: eight in the CPU's stages, one float in a GPU's thread.
#pragma once
#include "kernels/math.hpp"
#include "kernels/portable.hpp"
#include "policies/optimizer.hpp"

namespace odrpo::row_math {

/// Returns the l2 norm of a gradient of n elements from its sum of squares. A sum near the bounds of a float is computed again in double.
ODRPO_HD double gradient_norm(float square_sum, const float* gradient, int n) {
  double squares = static_cast<double>(square_sum);
  if (!(squares < 1e30 && squares > 1e-30)) {
    squares = 0;
    for (int i = 0; i < n; ++i) squares += static_cast<double>(gradient[i]) * static_cast<double>(gradient[i]);
  }
  return math::sqrt(squares);
}

/// The factor that brings a gradient's norm down to `clip`; 1 if it is smaller or clip is 0.
ODRPO_HD float clip_factor(double norm, double clip) { return clip > 0 && norm > clip ? static_cast<float>(clip / norm) : 1.0f; }

// Applies pending steps (PendingStep in optimizer.hpp) to a parameter x; m = its first moment, root = the square root of its second.
// Step j: x <- decay_j x + rate_j m / d_j, d_j = root scale_j + eps.
// Two steps share one division; four share one where the product of their d's can neither underflow nor overflow.

/// The product d_0 d_1 d_2 d_3 neither overflows nor underflows a float if root is below this and eps_allows_four(eps).
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

/// Applies n pending steps: calls take() with four, two or one of them at a time. All processors group them alike, so results have equal bits.
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

/// Adam's moments after a gradient g; keep = beta^n, n = number of steps since the last gradient; rest = 1 - beta.
template <class F>
ODRPO_HD F first_moment(float keep, F m, float rest, F g) {
  return keep * m + rest * g;
}
template <class F>
ODRPO_HD F second_moment(float keep, F v, float rest, F g) {
  return keep * v + rest * (g * g);
}

/// Returns a rollout's coefficient before scaling: `part`, which its advantage contributes, minus kl times the gradient of the KL estimate k3.
template <class F>
ODRPO_HD F penalised(F part, F probability, float kl, float reference) {
  return kl > 0 ? part - kl * (1.0f - reference / probability) : part;
}

}  // namespace odrpo::row_math
