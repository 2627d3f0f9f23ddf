// The one way in which kernels are launched.
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

/// Where a launch goes; keeps the line that asked for it.
struct LaunchOn {
  const Stream& stream;
  Asked from;
  LaunchOn(const Stream& on, Asked asked = Asked::current()) : stream(on), from(asked) {}
};

/// Queues kernel(arguments...) for `grid` on a stream: launch(kernel, {blocks, threads}, stream, arguments...). No blocks, no launch.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), Grid grid, LaunchOn on, Arguments&&... arguments) {
  if (grid.blocks == 0) return;
  if (grid.blocks > 0x7fffffffu) device_failed(cudaErrorInvalidConfiguration, "launch a kernel of too many blocks", on.from);
  kernel<<<static_cast<unsigned>(grid.blocks), grid.threads, grid.shared_bytes, on.stream.handle()>>>(
      std::forward<Arguments>(arguments)...);
  check(cudaGetLastError(), "launch a kernel", on.from);
}

/// Blocks of `per_block` that hold n.
inline std::size_t blocks_for(std::size_t n, std::size_t per_block) { return n / per_block + (n % per_block != 0); }

}  // namespace odrpo
