// The check of every CUDA call: errors become Failure(Exit::device).
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <string>

#include "kernels/device/devices.hpp"

namespace odrpo {

/// "kernels/x.cu:12" of the line that asked.
std::string line_of(Asked from);

/// Throws for `error`: what was being done, what CUDA says, the source line; out of memory and a lost device in plain words.
[[noreturn]] void device_failed(cudaError_t error, const char* doing, Asked from, std::size_t bytes = 0);

inline void check(cudaError_t error, const char* doing, Asked from = Asked::current()) {
  if (error != cudaSuccess) device_failed(error, doing, from);
}

}  // namespace odrpo
