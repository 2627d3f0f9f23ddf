// Computes how well a batch gradient agrees with the exact gradient, from redraws of the batch.
#pragma once
#include <cstdint>

#include "kernels/math.hpp"
#include "kernels/purpose.hpp"

namespace odrpo {

/// Cosine with the exact gradient, and signal-to-noise ratio; NaN where undefined (gradient_quality() of train/worlds/bandit.hpp).
struct GradientQuality {
  double cosine, snr;
};

/// Computes both from n = `replicas` redraws. `sum`: sum of their gradients; `exact`: the exact gradient; both have `size` components.
/// `squares`: sum over redraws of |gradient|^2.
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
    // trace of the covariance; |mean gradient|^2 of n redraws is on average too large by trace / n
    const double trace = (squares - replicas * of_mean) / (replicas - 1);
    if (trace > 0) quality.snr = (of_mean - trace / replicas) / trace;
  }
  return quality;
}

// Draws: the purposes of a batch's random words (Purpose). Redraws of a batch, for gradient cosine and SNR, have words of their own.

struct Draws {
  Purpose action, rating, vote;
  std::uint32_t replica = 0;  ///< number of the redraw: a prompt's words begin `replica` times the counter blocks of one batch later

  static constexpr Draws training() { return {Purpose::action, Purpose::rating, Purpose::vote}; }
  static constexpr Draws replicas(int r) {
    return {Purpose::replica_action, Purpose::replica_rating, Purpose::replica_vote, static_cast<std::uint32_t>(r)};
  }
};

}  // namespace odrpo
