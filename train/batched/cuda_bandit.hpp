// Declares the training of bandit runs on the current CUDA device. Compiled only where nvcc is available.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "kernels/device/memory.hpp"
#include "train/batched/block/run_block.hpp"
#include "train/batched/engine.hpp"

namespace odrpo {

/// BatchEngine::train for runs of the bandit, of which each block of threads has at most `block_bytes` of shared memory. Adds the time that
/// their kernels take to `seconds`.
void train_bandits_on_cuda(const BatchEngine::Call& call, std::size_t block_bytes, std::atomic<double>& seconds);

// Removes runs whose parameters are no longer finite from a batch's list of runs still training.

/// BatchDevice::drop_lost on a CUDA device; waits until the device has counted the remaining runs.
std::size_t drop_lost_runs(const device::Run* runs, std::uint32_t* going_on, std::size_t count, const Stream& stream);

}  // namespace odrpo
