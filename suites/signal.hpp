// How good the gradient of a batch is against the exact one, from redraws of it.
#pragma once
#include "suites/gradient_signal.hpp"
#include "suites/train_step.hpp"

namespace odrpo {

/// The estimated gradient of one batch's prompts against the exact gradient of their expected true quality, over `record.gradient` redraws
/// of responses and scores by the policy that met the batch: call it after meet_batch, before the update. NaN where
/// undefined (one of the two is zero; SNR with fewer than 2 redraws). Cosine: of the mean estimated gradient and the exact one; SNR:
/// |mean g|^2 / trace of the covariance of g, both unbiased.
GradientSignal gradient_signal(const Problem& problem, TrainState& s, int t);

}  // namespace odrpo
