// Runs of the bandit on the current CUDA device. Built only where nvcc is.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "kernels/device/memory.hpp"
#include "train/batched/block/run_block.hpp"
#include "train/batched/engine.hpp"

namespace odrpo {

/// BatchEngine::train for such runs; adds the seconds of their kernels.
void train_bandits_on_cuda(const BatchEngine::Call& call, std::atomic<double>& seconds);

// Which runs of a batch go on, on the current CUDA device. Built only where nvcc is.

/// BatchDevice::drop_lost; waits for the number.
std::size_t drop_lost_runs(const device::Run* runs, std::uint32_t* going_on, std::size_t count, const Stream& stream);

}  // namespace odrpo
