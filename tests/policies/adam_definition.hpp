// Adam's definition, dense and in double, for the tests of sparse and vectorised steps.
#pragma once
#include <cmath>

#include "policies/optimizer.hpp"

namespace odrpo {

/// One ascent step t (0-based) on `count` parameters (Kingma and Ba 2015, algorithm 1; Loshchilov and Hutter 2019 for the decoupled decay).
inline void adam_definition(const OptimizerConfig& config, int t, double lr, int count, const double* gradient, double* theta, double* m,
                     double* v) {
  double bias1 = 1, bias2 = 1;
  for (int i = 0; i <= t; ++i) {
    bias1 *= config.beta1;
    bias2 *= config.beta2;
  }
  const double decay = config.kind == OptimizerKind::adamw ? 1.0 - lr * config.weight_decay : 1.0;
  for (int i = 0; i < count; ++i) {
    m[i] = config.beta1 * m[i] + (1.0 - config.beta1) * gradient[i];
    v[i] = config.beta2 * v[i] + (1.0 - config.beta2) * gradient[i] * gradient[i];
    theta[i] = decay * theta[i] + lr * (m[i] / (1.0 - bias1)) / (std::sqrt(v[i] / (1.0 - bias2)) + config.eps);
  }
}

}  // namespace odrpo
