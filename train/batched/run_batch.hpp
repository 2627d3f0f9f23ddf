// Trains a batch of runs on a device: makes and sends what they need, runs steps in chunks, fetches records. Knows no CUDA: the device
// is a handful of functions.
#pragma once
#include "train/batched/device.hpp"
#include "train/batched/engine.hpp"

namespace odrpo {

class RunCache;
struct RunSpec;

/// BatchEngine::train on such a place.
void train_batched(const BatchDevice& device, const std::vector<const RunSpec*>& runs, RunCache& cache, const std::atomic<bool>& stop,
                   const BatchEngine::Done& done);

}  // namespace odrpo
