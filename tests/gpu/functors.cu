// The functors of kernels/ and estimators/ compiled for the device, one thread an element.
#include <cuda_runtime.h>

#include "estimators/weights.hpp"
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

// Device memory for n values, copied back by `fetch`.
template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t n) : n_(n) { ok_ = cudaMalloc(&data_, n * sizeof(T)) == cudaSuccess; }
  ~Buffer() {
    if (ok_) cudaFree(data_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  T* data() { return data_; }
  bool send(const std::vector<T>& from) {
    return ok_ && cudaMemcpy(data_, from.data(), n_ * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess;
  }
  bool fetch(std::vector<T>& to) {
    return ok_ && cudaGetLastError() == cudaSuccess && cudaMemcpy(to.data(), data_, n_ * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess;
  }

 private:
  std::size_t n_;
  T* data_ = nullptr;
  bool ok_ = false;
};

constexpr unsigned threads = 128;
unsigned blocks(std::size_t n) { return static_cast<unsigned>((n + threads - 1) / threads); }

}  // namespace

bool present() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

bool words(std::uint64_t key, std::vector<std::uint32_t>& out) {
  Buffer<std::uint32_t> device(out.size());
  words_kernel<<<blocks(out.size()), threads>>>(key, device.data(), static_cast<int>(out.size()));
  return device.fetch(out);
}

bool elementary(const std::vector<double>& in, std::vector<double>& out) {
  Buffer<double> from(in.size()), to(out.size());
  if (!from.send(in)) return false;
  elementary_kernel<<<blocks(in.size()), threads>>>(from.data(), to.data(), static_cast<int>(in.size()));
  return to.fetch(out);
}

bool level_terms(std::vector<double>& out) {
  Buffer<double> to(out.size());
  terms_kernel<<<blocks(out.size()), threads>>>(to.data(), static_cast<int>(out.size()));
  return to.fetch(out);
}

}  // namespace odrpo::gpu
