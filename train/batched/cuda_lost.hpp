// Which runs of a batch go on, on the current CUDA device. Built only where nvcc is.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernels/device/memory.hpp"
#include "train/batched/block/run_block.hpp"

namespace odrpo {

/// BatchDevice::drop_lost; waits for the number.
std::size_t drop_lost_runs(const device::Run* runs, std::uint32_t* going_on, std::size_t count, const Stream& stream);

}  // namespace odrpo
