// Looking at a batch without learning from it: the last record's batch, and how good the batch gradient is against the exact one.
#pragma once
#include "suites/train_step.hpp"

namespace odrpo {

/// Draws, rates and estimates the batch of step t, without an update.
void look_at_batch(const Problem& problem, TrainState& s, int t);

/// The estimated gradient of one batch's prompts against the exact gradient of their expected true quality, over `record.gradient` redraws
/// of responses and scores by the policy that met the batch: call it after meet_batch or look_at_batch, before the update. NaN where
/// undefined (one of the two is zero; SNR with fewer than 2 redraws).
struct GradientSignal {
  double cosine;  ///< cosine of the mean estimated gradient and the exact one
  double snr;     ///< |mean g|^2 / trace of the covariance of g, both unbiased
};
GradientSignal gradient_signal(const Problem& problem, TrainState& s, int t);

}  // namespace odrpo
