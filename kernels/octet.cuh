// The device's octets and blocks (kernels/octet.hpp says what they are): eight neighbouring threads of a warp, and the phases of a block.
#pragma once
#include <cstdint>

#include "kernels/lane_math.hpp"

namespace odrpo {

/// One thread's lane of an octet.
struct DeviceOctet : lane_math::OneLane {
  int index;  ///< which octet of the block
  int l;      ///< 0..7
  bool live;

  static __host__ __device__ F splat(float x) { return x; }
  static __host__ __device__ I ones(bool mask) { return mask ? 1 : 0; }
  static __host__ __device__ F sqrt(F x) { return __builtin_sqrtf(x); }
  static __host__ __device__ I whole(F x) { return static_cast<I>(x); }
  static __host__ __device__ F higher(F x, F y) { return x > y ? x : y; }
  static __host__ __device__ F lower(F x, F y) { return x < y ? x : y; }

  __host__ __device__ F load(const float* p) const { return p[l]; }
  __host__ __device__ U load(const std::uint32_t* p) const { return p[l]; }
  __host__ __device__ F load(const float* p, int n, float rest) const { return l < n ? p[l] : rest; }
  __host__ __device__ U load(const std::uint32_t* p, int n, std::uint32_t rest) const { return l < n ? p[l] : rest; }
  template <class Small>
  __host__ __device__ I load(const Small* p, int n, int rest) const {
    return l < n ? static_cast<I>(p[l]) : rest;
  }
  __host__ __device__ void store(float* p, F x) const {
    if (live) p[l] = x;
  }
  template <class T, class X>
  __host__ __device__ void store(T* p, X x, int n) const {
    if (live && l < n) p[l] = static_cast<T>(x);
  }
  __host__ __device__ F gather(const float* p, I at) const { return p[at]; }
  __host__ __device__ I lane() const { return l; }
  __host__ __device__ bool leads() const { return live && l == 0; }

#if defined(__CUDA_ARCH__)
  static constexpr unsigned everybody = 0xffffffffu;
  __device__ float at(F x, int from) const { return __shfl_sync(everybody, x, from, 8); }
  __device__ F lookup(F x, I from) const { return __shfl_sync(everybody, x, from, 8); }
  __device__ float sum(F x) const {
    x += __shfl_xor_sync(everybody, x, 4, 8);
    x += __shfl_xor_sync(everybody, x, 2, 8);
    return x + __shfl_xor_sync(everybody, x, 1, 8);
  }
  __device__ float largest(F x) const {
    x = higher(x, __shfl_xor_sync(everybody, x, 4, 8));
    x = higher(x, __shfl_xor_sync(everybody, x, 2, 8));
    return higher(x, __shfl_xor_sync(everybody, x, 1, 8));
  }
  __device__ unsigned those(bool mask) const { return __ballot_sync(everybody, mask) >> (threadIdx.x % 32 / 8 * 8) & 0xffu; }
  __device__ bool all(bool mask) const { return those(mask) == 0xffu; }
  __device__ int count(bool mask) const { return __popc(those(mask)); }
  __device__ void meet() const { __syncwarp(0xffu << (threadIdx.x % 32 / 8 * 8)); }
  __device__ F before(F x, float& t) const {
    F sums = t;
    for (int i = 0; i < 8; ++i) {
      if (i == l) sums = t;
      t += __shfl_sync(everybody, x, i, 8);
    }
    return sums;
  }
#else  // nvcc looks at the host's side of what it compiles for both
  __host__ __device__ float at(F x, int) const { return x; }
  __host__ __device__ F lookup(F x, I) const { return x; }
  __host__ __device__ float sum(F x) const { return x; }
  __host__ __device__ float largest(F x) const { return x; }
  __host__ __device__ bool all(bool mask) const { return mask; }
  __host__ __device__ int count(bool mask) const { return mask; }
  __host__ __device__ void meet() const {}
  __host__ __device__ F before(F x, float&) const { return x; }
#endif
};

/// The threads of a block; as many as whole warps.
struct DeviceBlock {
  __host__ __device__ int thread() const {
#if defined(__CUDA_ARCH__)
    return static_cast<int>(threadIdx.x);
#else
    return 0;
#endif
  }
  __host__ __device__ int thread_count() const {
#if defined(__CUDA_ARCH__)
    return static_cast<int>(blockDim.x);
#else
    return 32;
#endif
  }
  __host__ __device__ void sync() const {
#if defined(__CUDA_ARCH__)
    __syncthreads();
#endif
  }
  __host__ __device__ int octet_count() const { return thread_count() / 8; }

  template <class F>
  __host__ __device__ void octets(int n, F f) const {
    const int first = thread() / 8, step = octet_count(), whole_warps = (n + 3) / 4 * 4;
#if defined(__CUDA_ARCH__)
#pragma unroll 1  // phases are long: twice their text would cost more than it saves
#endif
    for (int i = first; i < whole_warps; i += step) f(DeviceOctet{{}, first, thread() % 8, i < n}, i);
    sync();
  }
  template <class F>
  __host__ __device__ void threads(int n, F f) const {
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (int i = thread(); i < n; i += thread_count()) f(i);
    sync();
  }
  template <class F, class G>
  __host__ __device__ void aside(F f, G g) const {
    if (thread() < 32) f(DeviceOctet{{}, thread() / 8, thread() % 8, thread() < 8});
    else if (thread() == 32) g();
    sync();
  }
  template <class T>
  __host__ __device__ T add(T* at, T x) const {
#if defined(__CUDA_ARCH__)
    return atomicAdd(at, x);
#else
    const T was = *at;
    *at += x;
    return was;
#endif
  }
  __host__ __device__ bool leads() const { return thread() == 0; }
  __host__ __device__ long long ticks() const {
#if defined(__CUDA_ARCH__)
    return clock64();
#else
    return 0;
#endif
  }
};

}  // namespace odrpo
