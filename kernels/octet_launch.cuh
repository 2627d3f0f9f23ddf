// A device's queue (kernels/queue.hpp): functors of octets launched on a stream, eight threads an item, and products by cuBLASLt.
#pragma once
#include "kernels/device_product.hpp"
#include "kernels/failure.hpp"
#include "kernels/launch.cuh"
#include "kernels/octet.cuh"
#include "kernels/queue.hpp"

namespace odrpo {

inline constexpr unsigned octet_threads = 256;

/// Item i of n by the i-th octet of the grid.
template <class F>
__global__ void __launch_bounds__(octet_threads) octet_kernel(const F f, std::size_t n) {
  octet_thread<CudaThread>(f, n, static_cast<std::size_t>(blockIdx.x) * (octet_threads / 8));
}

/// Work for one stream; errors name the line that asked for the queue.
struct DeviceQueue {
  const Stream& stream;
  DeviceProducts& products;
  Asked from;

  template <class F>
  void octets(std::size_t n, const F& f) {
    launch(octet_kernel<F>, {blocks_for(n, octet_threads / 8), octet_threads}, {stream, from}, f, n);
  }
  void product(const Product& p) { products(p, stream, from); }
  void zero(float* to, std::size_t n) { device_memory::fill(to, 0, n * sizeof(float), stream, from); }
};

}  // namespace odrpo
