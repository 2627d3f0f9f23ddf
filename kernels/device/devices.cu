// Finds and opens CUDA devices through the CUDA runtime. Builds without CUDA have devices_none.cpp instead.
#include <cuda_runtime.h>

#include "kernels/device/devices.hpp"

namespace odrpo {
namespace {

// A kernel that is never launched; it serves to ask CUDA whether the device can run this program's code.
__global__ void nothing() {}

// The reason for a message why a device cannot be used, from CUDA's error.
std::string reason(cudaError_t error) {
  switch (error) {
    case cudaErrorInsufficientDriver: return "no NVIDIA driver, or one too old for CUDA " + cuda_version_text(CUDART_VERSION);
    case cudaErrorNoDevice: return "the driver finds no device (CUDA_VISIBLE_DEVICES may hide it)";
    default: return cudaGetErrorString(error);
  }
}

DeviceFacts facts_of(int index, bool open) {
  DeviceFacts d;
  cudaDeviceProp p{};
  if (const cudaError_t error = cudaGetDeviceProperties(&p, index); error != cudaSuccess) {
    d.name = "device " + std::to_string(index);
    d.trouble = reason(error);
    return d;
  }
  d.name = p.name;
  d.major = p.major;
  d.minor = p.minor;
  d.multiprocessors = p.multiProcessorCount;
  d.memory_bytes = static_cast<double>(p.totalGlobalMem);
  d.cache_bytes = p.l2CacheSize;
  d.block_bytes = static_cast<double>(p.sharedMemPerBlockOptin);
  if (!open) return d;
  std::size_t free = 0, total = 0;
  cudaFuncAttributes attributes{};
  cudaError_t error = cudaSetDevice(index);
  if (error == cudaSuccess) error = cudaMemGetInfo(&free, &total);
  if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, nothing);
  d.free_bytes = static_cast<double>(free);
  if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorUnsupportedPtxVersion)
    d.trouble = "this program has no code for its compute capability, " + std::to_string(d.major) + "." + std::to_string(d.minor) +
                " (the preset gpu-carry has code for 8.0 and later)";
  else if (error != cudaSuccess) d.trouble = reason(error);
  return d;
}

}  // namespace

Devices find_devices(bool open) {
  Devices found;
  found.runtime = CUDART_VERSION;
  if (cudaDriverGetVersion(&found.driver) != cudaSuccess) found.driver = 0;
  int count = 0, before = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess) found.why_none = reason(error);
  else if (count == 0) found.why_none = reason(cudaErrorNoDevice);
  const bool had = !found.why_none.empty() || cudaGetDevice(&before) == cudaSuccess;
  for (int i = 0; found.why_none.empty() && i < count; ++i) found.all.push_back(facts_of(i, open));
  if (open && !found.all.empty() && had) cudaSetDevice(before);
  cudaGetLastError();  // clears the error state, so that the next CUDA call does not report an error from here
  return found;
}

DeviceFacts open_device(int index) {
  DeviceFacts d = facts_of(index, true);
  cudaGetLastError();
  return d;
}

}  // namespace odrpo
