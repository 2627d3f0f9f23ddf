// What redraws of a batch say of its gradient, from a few sums.
#pragma once
#include "kernels/math.hpp"

namespace odrpo {

/// NaN where undefined (suites/signal.hpp).
struct GradientSignal {
  double cosine, snr;
};

/// Over the parameters: of the redraws' mean times the exact gradient, of the squares of either; and of the squares of every redraw.
ODRPO_HD GradientSignal signal_of(double along, double of_mean, double of_exact, double squares, int replicas) {
  GradientSignal signal{__builtin_nan(""), __builtin_nan("")};
  if (of_mean > 0 && of_exact > 0) signal.cosine = along / (math::sqrt(of_mean) * math::sqrt(of_exact));
  if (replicas > 1) {
    // trace of the covariance; |mean|^2 of n redraws is too large by trace / n
    const double trace = (squares - replicas * of_mean) / (replicas - 1);
    if (trace > 0) signal.snr = (of_mean - trace / replicas) / trace;
  }
  return signal;
}

}  // namespace odrpo
