// Matrix products on a CUDA device in plain C++: the door to cuBLASLt, which is loaded when first asked for, so that no program needs it to
// start. Built only where nvcc is. Everything here throws Failure(Exit::device) with the source line that asked.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "kernels/device/backend.hpp"
#include "kernels/device/memory.hpp"

namespace odrpo {

/// How floats are multiplied; sums are always of floats. tf32: factors rounded to 10 bits of mantissa, on the tensor cores.
enum class ProductPrecision { fp32, tf32 };

/// cuBLASLt on the current device. Its choice for each shape is asked for once; its scratch belongs to this object, so that calls on one
/// stream at a time give the same bits for the same call.
class DeviceProducts {
 public:
  /// Loads the library: the file named by the environment variable ODRPO_CUBLASLT, else the one of this program's CUDA version.
  explicit DeviceProducts(ProductPrecision precision, Asked from = Asked::current());
  ~DeviceProducts();
  DeviceProducts(const DeviceProducts&) = delete;
  DeviceProducts& operator=(const DeviceProducts&) = delete;

  /// Queues one product of matrices in device memory, aligned to floats. An empty one (m or n is 0) is nothing; k is at least 1.
  void operator()(const Product& product, const Stream& stream, Asked from = Asked::current());

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

/// Bytes of the device's memory that each of them works in.
inline constexpr std::size_t product_scratch_bytes = std::size_t{32} << 20;  // what NVIDIA advises for Hopper

/// "cuBLASLt 13.0.2, tf32" of one that can be made.
std::string products_name(ProductPrecision precision);

/// Why DeviceProducts cannot be made here whatever the device: the library is missing; empty = it can be loaded.
std::string why_no_products();

}  // namespace odrpo
