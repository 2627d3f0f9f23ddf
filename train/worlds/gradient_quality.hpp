// How good a batch gradient is, from redraws of the batch.
#pragma once
#include <cstdint>

#include "kernels/math.hpp"
#include "kernels/purpose.hpp"

namespace odrpo {

/// NaN where undefined (gradient_quality() of train/worlds/bandit.hpp).
struct GradientQuality {
  double cosine, snr;
};

/// From the sum of n = `replicas` redraws' gradients and the exact one, `size` parameters each, and the squares of every redraw together.
ODRPO_HD GradientQuality quality_of(const double* sum, const float* exact, int size, double squares, int replicas) {
  double along = 0, of_mean = 0, of_exact = 0;
  for (int i = 0; i < size; ++i) {
    const double mean = sum[i] / replicas, right = static_cast<double>(exact[i]);
    along += mean * right;
    of_mean += mean * mean;
    of_exact += right * right;
  }
  GradientQuality quality{__builtin_nan(""), __builtin_nan("")};
  if (of_mean > 0 && of_exact > 0) quality.cosine = along / (math::sqrt(of_mean) * math::sqrt(of_exact));
  if (replicas > 1) {
    // trace of the covariance; |mean|^2 of n redraws is too large by trace / n
    const double trace = (squares - replicas * of_mean) / (replicas - 1);
    if (trace > 0) quality.snr = (of_mean - trace / replicas) / trace;
  }
  return quality;
}

// What the random words of a batch are for; redraws of a batch (for gradient signal and noise) ask other questions than training.

struct Draws {
  Purpose action, rating, vote;
  std::uint32_t replica = 0;  ///< replica r of a batch starts at r times the blocks of one

  static constexpr Draws training() { return {Purpose::action, Purpose::rating, Purpose::vote}; }
  static constexpr Draws replicas(int r) {
    return {Purpose::replica_action, Purpose::replica_rating, Purpose::replica_vote, static_cast<std::uint32_t>(r)};
  }
};

}  // namespace odrpo
