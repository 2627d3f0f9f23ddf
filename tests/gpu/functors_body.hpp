// One test body for both processors: what each thread computes and what the host expects.
#pragma once
#include "estimators/weights.hpp"
#include "kernels/math.hpp"
#include "kernels/random.hpp"

namespace odrpo::gpu::body {

ODRPO_HD std::uint32_t word(std::uint64_t key, int i) { return draw(key, Purpose::action, static_cast<std::uint32_t>(i), 7, 9).x[0]; }

ODRPO_HD double elementary(double x, int i) {
  switch (i % 4) {
    case 0: return math::exp(x);
    case 1: return math::log(1.0 + x * x);
    case 2: return math::sincos_turn(x - math::floor(x)).cos;
    default: return math::erfc(x);
  }
}

ODRPO_HD double level_term(int i) {
  const int level = i % 10 + 1, count = i % 8 + 1;
  const double variance = level_variance(count, 8), decay = median_decay(6.0, level);
  return level_weight(Weight::gini_median, level, variance, decay) / level_divisor({Divisor::deviation, 0, 1e-6, 0, 0}, count, 8);
}

}  // namespace odrpo::gpu::body
