// The CUDA devices of this machine in plain C++: from devices.cu where nvcc built this program, from devices_none.cpp elsewhere.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace odrpo {

struct DeviceFacts {
  std::string name;
  int major = 0, minor = 0;  ///< compute capability
  int multiprocessors = 0;
  double memory_bytes = 0, free_bytes = 0, cache_bytes = 0;  ///< free_bytes: when opened
  double block_bytes = 0;                                    ///< shared memory that a block can ask for
  std::string trouble;                                       ///< why this program cannot use it; empty = it can
};

struct Devices {
  std::vector<DeviceFacts> all;
  std::string why_none;     ///< empty when there are any
  int driver = 0;           ///< newest CUDA that the driver knows, 13000 = 13.0; 0 = no driver
  int runtime = 0;          ///< CUDA that this program was built with; 0 = none
  bool any_usable() const;  ///< one without trouble
};

/// What there is. Opens the devices (seconds, on machines with many) only when `open`: whether they answer, and their free memory.
/// Throws nothing but bad_alloc.
Devices find_devices(bool open);

/// One of them, opened: no other is touched. The calling thread goes on with it.
DeviceFacts open_device(int index);

/// Why nothing can run on a device here, in a sentence; empty when something can.
std::string why_no_device(const Devices& devices);

/// "13.0" of 13000.
std::string cuda_version_text(int version);

// How a device multiplies, and what that takes: for every build, with CUDA or without.

/// How floats are multiplied; sums are always of floats. tf32: factors rounded to 10 bits of mantissa, on the tensor cores.
enum class ProductPrecision { fp32, tf32 };

/// Bytes of the device's memory that the products of one queue work in.
inline constexpr std::size_t product_scratch_bytes = std::size_t{32} << 20;  // what NVIDIA advises for Hopper

// The source line that asked for something of a device, for messages.

/// The source line that asked. Not std::source_location, which clang 14 cannot use.
struct Asked {
  const char* file;
  unsigned line;
  static constexpr Asked current(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) { return {file, line}; }
};

}  // namespace odrpo
