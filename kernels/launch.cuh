// The one door through which kernels are launched, and the check of every CUDA call: errors become Failure(Exit::device).
#pragma once
#include <cuda_runtime.h>

#include <string>

#include "kernels/device_memory.hpp"

namespace odrpo {

/// "kernels/x.cu:12" of the line that asked.
std::string line_of(Asked from);

/// Throws for `error`: what was being done, what CUDA says, the source line; out of memory and a lost device in plain words.
[[noreturn]] void device_failed(cudaError_t error, const char* doing, Asked from, std::size_t bytes = 0);

inline void check(cudaError_t error, const char* doing, Asked from = Asked::current()) {
  if (error != cudaSuccess) device_failed(error, doing, from);
}

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
