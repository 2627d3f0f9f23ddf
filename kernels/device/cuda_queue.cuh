// Tiles of a CUDA device's queue: functors launched on its stream, eight threads an item.
#pragma once
#include "kernels/device/cuda_queue.hpp"
#include "kernels/device/launch.cuh"
#include "kernels/device/tile.cuh"

namespace odrpo {

inline constexpr unsigned tile_threads = 256;

/// Item i of n by the i-th tile of the grid.
template <class F>
__global__ void __launch_bounds__(tile_threads) tile_kernel(const F f, std::size_t n) {
  tile_thread<CudaThread>(f, n, static_cast<std::size_t>(blockIdx.x) * (tile_threads / 8));
}

template <class F>
void CudaQueue::tiles(std::size_t n, const F& f, Asked from) {
  launch(tile_kernel<F>, {blocks_for(n, tile_threads / 8), tile_threads}, {stream_, from}, f, n);
}

}  // namespace odrpo
