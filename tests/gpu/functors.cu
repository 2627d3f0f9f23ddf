// The functors of kernels/ and estimators/ compiled for the device, one thread an element.
#include "estimators/weights.hpp"
#include "kernels/device/launch.cuh"
#include "kernels/math.hpp"
#include "kernels/random.hpp"
#include "tests/gpu/functors.hpp"
#include "tests/gpu/functors_body.hpp"

namespace odrpo::gpu {
namespace {

__global__ void words_kernel(std::uint64_t key, std::uint32_t* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = body::word(key, i);
}
__global__ void elementary_kernel(const double* in, double* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = body::elementary(in[i], i);
}
__global__ void terms_kernel(double* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = body::level_term(i);
}

__global__ void stray_kernel(int* nowhere) { *nowhere = 1; }

constexpr unsigned threads = 128;
Grid grid(std::size_t n) { return {blocks_for(n, threads), threads}; }

}  // namespace

void words(std::uint64_t key, std::vector<std::uint32_t>& out) {
  const Stream stream;
  DeviceBuffer<std::uint32_t> device(out.size());
  launch(words_kernel, grid(out.size()), stream, key, device.data(), static_cast<int>(out.size()));
  device.fetch(out, stream);
  stream.wait();
}

void elementary(const std::vector<double>& in, std::vector<double>& out) {
  const Stream stream;
  DeviceBuffer<double> from(in.size()), to(out.size());
  from.send(in, stream);
  launch(elementary_kernel, grid(in.size()), stream, from.data(), to.data(), static_cast<int>(in.size()));
  to.fetch(out, stream);
  stream.wait();
}

void level_terms(std::vector<double>& out) {
  const Stream stream;
  DeviceBuffer<double> to(out.size());
  launch(terms_kernel, grid(out.size()), stream, to.data(), static_cast<int>(out.size()));
  to.fetch(out, stream);
  stream.wait();
}

void fail_on_purpose() {
  const Stream stream;
  launch(stray_kernel, {1, 1}, stream, reinterpret_cast<int*>(std::uintptr_t{16}));
  stream.wait();
}

}  // namespace odrpo::gpu
