// Describes the CUDA devices of this machine in plain C++. Builds with nvcc implement it in devices.cu, others in devices_none.cpp.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace odrpo {

struct DeviceFacts {
  std::string name;
  int major = 0, minor = 0;  ///< compute capability
  int multiprocessors = 0;
  double memory_bytes = 0, free_bytes = 0, cache_bytes = 0;  ///< free_bytes: free memory when it was opened; cache: the L2 cache
  double block_bytes = 0;                                    ///< most shared memory of a block of threads, bytes
  std::string trouble;                                       ///< why this program cannot use the device; empty = it can
};

struct Devices {
  std::vector<DeviceFacts> all;
  std::string why_none;     ///< why `all` is empty; empty if there are devices
  int driver = 0;           ///< newest CUDA version that the driver supports, 13000 = 13.0; 0 = no driver
  int runtime = 0;          ///< CUDA version that this program was built with; 0 = none
  bool any_usable() const;  ///< true if a device has no `trouble`
};

/// Lists the devices of this machine. Only with `open` it opens each one, to find its free memory and whether it works; with many devices
/// that takes seconds. Throws nothing but bad_alloc.
Devices find_devices(bool open);

/// Opens the device with this index and no other one. It becomes the calling thread's current device.
DeviceFacts open_device(int index);

/// The reason why no device of this machine can be used, in a sentence; empty if one can.
std::string why_no_device(const Devices& devices);

/// A CUDA version number as text: "13.0" for 13000.
std::string cuda_version_text(int version);

// Settings of matrix products on a device; needed in builds without CUDA too.

/// How floats are multiplied; sums are in float for both. tf32: factors are rounded to 10 bits of mantissa, for the tensor cores.
enum class ProductPrecision { fp32, tf32 };

/// Bytes of device memory that the matrix products of one queue use as scratch.
inline constexpr std::size_t product_scratch_bytes = std::size_t{32} << 20;  // cuBLAS's recommended workspace for Hopper GPUs

/// The source line of a call that uses a device, for error messages. Replaces std::source_location, which clang 14 cannot use.
struct Asked {
  const char* file;
  unsigned line;
  static constexpr Asked current(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) { return {file, line}; }
};

}  // namespace odrpo
