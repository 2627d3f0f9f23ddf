// What a batch's advantages are divided by when they are whitened.
#pragma once
#include "estimators/compat.hpp"
#include "kernels/math.hpp"

namespace odrpo {

ODRPO_HD float whitening_scale(const Whitening& w, float variance) {
  const float eps = static_cast<float>(w.eps);
  switch (w.scale) {
    case WhitenScale::inside: return math::sqrt(variance + eps);
    case WhitenScale::floor: return math::sqrt(variance > eps ? variance : eps);
    default: return math::sqrt(variance) + eps;
  }
}

}  // namespace odrpo
