// Launches CUDA kernels and checks the launch; all of the program launches through this file.
#pragma once
#include <cuda_runtime.h>

#include "kernels/device/check.cuh"
#include "kernels/device/memory.hpp"

namespace odrpo {

struct Grid {
  std::size_t blocks;
  unsigned threads;
  std::size_t shared_bytes = 0;
};

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
  kernel<<<static_cast<unsigned>(grid.blocks), grid.threads, grid.shared_bytes, on.stream.handle()>>>(
      std::forward<Arguments>(arguments)...);
  check(cudaGetLastError(), "launch a kernel", on.from);
}

/// How many blocks of `per_block` items n items need.
inline std::size_t blocks_for(std::size_t n, std::size_t per_block) { return n / per_block + (n % per_block != 0); }

}  // namespace odrpo
