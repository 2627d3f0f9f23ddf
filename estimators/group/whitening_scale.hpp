// What a batch's advantages are divided by when they are whitened.
#pragma once
#include "estimators/compat.hpp"
#include "kernels/math.hpp"

namespace odrpo {

/// For float, or for double where counts are large.
template <class Real>
ODRPO_HD Real whitening_scale(const Whitening& w, Real variance) {
  const Real eps = static_cast<Real>(w.eps);
  switch (w.scale) {
    case WhitenScale::inside: return math::sqrt(variance + eps);
    case WhitenScale::floor: return math::sqrt(variance > eps ? variance : eps);
    default: return math::sqrt(variance) + eps;
  }
}

}  // namespace odrpo
