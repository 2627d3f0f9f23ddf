// Defines the sizes of kernel launches in plain C++, so that a host's tests compare them with the limits of devices.
#pragma once
#include <cstddef>

namespace odrpo {

/// Sizes of a kernel launch.
struct Grid {
  std::size_t blocks;
  unsigned threads;
  std::size_t shared_bytes = 0;  ///< dynamic shared memory of a block
  bool opts_in = false;          ///< launch() asks for that memory, as CUDA requires above 48 KiB, and prefers it to cache
};

/// How many blocks of `per_block` items n items need.
constexpr std::size_t blocks_for(std::size_t n, std::size_t per_block) { return n / per_block + (n % per_block != 0); }

/// The launch of CudaQueue::tiles(n, f): eight threads per item.
inline constexpr unsigned tile_threads = 256;
constexpr Grid tile_grid(std::size_t n) { return {blocks_for(n, tile_threads / 8), tile_threads}; }

}  // namespace odrpo
