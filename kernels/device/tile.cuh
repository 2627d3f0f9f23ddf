// Implements the tiles (eight threads) and blocks of kernels/device/tile_threads.hpp with CUDA's threads, and CudaQueue::tiles().
#pragma once
#include "kernels/device/cuda_queue.hpp"
#include "kernels/device/launch.cuh"
#include "kernels/device/tile_threads.hpp"

namespace odrpo {

/// The functions of a CUDA thread that ThreadTile and ThreadBlock need. nvcc also compiles the callers for the host, where nobody runs
/// them; so the host gets stand-ins.
struct CudaThread {
#if defined(__CUDA_ARCH__)
  static __device__ int thread() { return static_cast<int>(threadIdx.x); }
  static __device__ int count() { return static_cast<int>(blockDim.x); }
  static __device__ void sync() { __syncthreads(); }
  static __device__ float shuffle(float x, int from) { return __shfl_sync(0xffffffffu, x, from, 8); }
  static __device__ float shuffle_xor(float x, int k) { return __shfl_xor_sync(0xffffffffu, x, k, 8); }
  static __device__ unsigned ballot(bool mine) { return __ballot_sync(0xffffffffu, mine); }
  static __device__ int largest(int x) { return __reduce_max_sync(0xffffffffu, x); }
  static __device__ void sync_lanes(unsigned lanes) { __syncwarp(lanes); }
  template <class X>
  static __device__ X add(X* at, X x) {
    return atomicAdd(at, x);
  }
  static __device__ long long ticks() { return clock64(); }
#else
  static __host__ __device__ int thread() { return 0; }
  static __host__ __device__ int count() { return 32; }
  static __host__ __device__ void sync() {}
  static __host__ __device__ float shuffle(float x, int) { return x; }
  static __host__ __device__ float shuffle_xor(float x, int) { return x; }
  static __host__ __device__ unsigned ballot(bool) { return 0; }
  static __host__ __device__ int largest(int x) { return x; }
  static __host__ __device__ void sync_lanes(unsigned) {}
  template <class X>
  static __host__ __device__ X add(X* at, X x) {
    const X was = *at;
    *at += x;
    return was;
  }
  static __host__ __device__ long long ticks() { return 0; }
#endif
};

using DeviceTile = ThreadTile<CudaThread>;
using DeviceBlock = ThreadBlock<CudaThread>;

// CudaQueue::tiles(): launches a functor on the queue's stream, eight threads per item.

/// Computes item i of n by the i-th tile of the grid.
template <class F>
__global__ void __launch_bounds__(tile_threads) tile_kernel(const F f, std::size_t n) {
  tile_thread<CudaThread>(f, n, static_cast<std::size_t>(blockIdx.x) * (tile_threads / 8));
}

template <class F>
void CudaQueue::tiles(std::size_t n, const F& f, Asked from) {
  launch(tile_kernel<F>, tile_grid(n), {stream_, from}, f, n);
}

}  // namespace odrpo
