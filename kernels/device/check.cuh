// Checks the results of CUDA calls, and throws Failure(Exit::device) for errors.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <string>

#include "kernels/device/devices.hpp"

namespace odrpo {

/// A source line as text for messages: last folder, file and line, as "device/x.cu:12".
std::string line_of(Asked from);

/// Throws Failure(Exit::device). Its message has `doing` (what was tried), CUDA's message and the source line; it explains out of memory
/// and a lost device.
[[noreturn]] void device_failed(cudaError_t error, const char* doing, Asked from, std::size_t bytes = 0);

inline void check(cudaError_t error, const char* doing, Asked from = Asked::current()) {
  if (error != cudaSuccess) device_failed(error, doing, from);
}

}  // namespace odrpo
