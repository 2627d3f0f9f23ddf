// Runs of the bandit on the current CUDA device. Built only where nvcc is.
#pragma once
#include <atomic>

#include "train/batched/engine.hpp"

namespace odrpo {

/// BatchEngine::train for such runs; adds the seconds of their kernels.
void train_bandits_on_cuda(const BatchEngine::Call& call, std::atomic<double>& seconds);

}  // namespace odrpo
