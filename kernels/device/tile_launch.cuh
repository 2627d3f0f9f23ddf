// A device's queue (kernels/device/backend.hpp): functors of tiles launched on a stream, eight threads an item, and products by cuBLASLt.
#pragma once
#include "kernels/device/backend.hpp"
#include "kernels/device/launch.cuh"
#include "kernels/device/product.hpp"
#include "kernels/device/tile.cuh"
#include "kernels/failure.hpp"

namespace odrpo {

inline constexpr unsigned tile_threads = 256;

/// Item i of n by the i-th tile of the grid.
template <class F>
__global__ void __launch_bounds__(tile_threads) tile_kernel(const F f, std::size_t n) {
  tile_thread<CudaThread>(f, n, static_cast<std::size_t>(blockIdx.x) * (tile_threads / 8));
}

/// Work for one stream; errors name the line that asked for the queue.
struct DeviceBackend {
  const Stream& stream;
  DeviceProducts& products;
  Asked from;

  template <class F>
  void tiles(std::size_t n, const F& f) {
    launch(tile_kernel<F>, {blocks_for(n, tile_threads / 8), tile_threads}, {stream, from}, f, n);
  }
  void product(const Product& p) { products(p, stream, from); }
  void zero(float* to, std::size_t n) { device_memory::fill(to, 0, n * sizeof(float), stream, from); }
};

}  // namespace odrpo
