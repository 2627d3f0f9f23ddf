// Launches CUDA kernels and checks the launch; all of the program launches through this file.
#pragma once
#include <cuda_runtime.h>

#include "kernels/device/check.cuh"
#include "kernels/device/grid.hpp"
#include "kernels/device/memory.hpp"

namespace odrpo {

/// The stream on which a kernel is launched, with the source line that asked for the launch.
struct LaunchOn {
  const Stream& stream;
  Asked from;
  LaunchOn(const Stream& on, Asked asked = Asked::current()) : stream(on), from(asked) {}
};

/// Queues kernel(arguments...) for `grid` on a stream: launch(kernel, {blocks, threads}, stream, arguments...). Does nothing for 0 blocks.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), Grid grid, LaunchOn on, Arguments&&... arguments) {
  if (grid.blocks == 0) return;
  if (grid.blocks > 0x7fffffffu) device_failed(cudaErrorInvalidConfiguration, "launch a kernel of too many blocks", on.from);
  if (grid.opts_in) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(grid.shared_bytes)),
          "take shared memory for a kernel", on.from);
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared),
          "prefer shared memory to cache", on.from);
  }
  kernel<<<static_cast<unsigned>(grid.blocks), grid.threads, grid.shared_bytes, on.stream.handle()>>>(
      std::forward<Arguments>(arguments)...);
  check(cudaGetLastError(), "launch a kernel", on.from);
}

}  // namespace odrpo
