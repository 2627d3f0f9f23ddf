// Multiplies matrices on a CUDA device by cuBLASLt, for plain C++. Loads this library at first use, so that no program needs it to start.
// Compiled only if nvcc is available. Errors throw Failure(Exit::device) with the source line of the call (Asked).
#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "kernels/device/backend.hpp"
#include "kernels/device/devices.hpp"
#include "kernels/device/memory.hpp"

namespace odrpo {

/// An open cuBLASLt on one device, which the queues of all threads that use this device may share.
class ProductLibrary {
 public:
  /// Opens cuBLASLt on the current device. Loads the file in the environment variable ODRPO_CUBLASLT, or the one of this CUDA version.
  explicit ProductLibrary(Asked from);  // no default for `from`, since make_shared() would name a line of its own
  ~ProductLibrary();
  ProductLibrary(const ProductLibrary&) = delete;
  ProductLibrary& operator=(const ProductLibrary&) = delete;
  void* handle() const { return handle_; }

 private:
  void* handle_ = nullptr;
};

/// Multiplies matrices on the current device. Asks cuBLASLt once for each shape how to multiply. The scratch memory belongs to this object;
/// so equal calls give equal bits, as long as only one stream uses the object at a time.
class DeviceProducts {
 public:
  DeviceProducts(ProductPrecision precision, std::shared_ptr<ProductLibrary> library, Asked from = Asked::current());
  ~DeviceProducts();
  DeviceProducts(const DeviceProducts&) = delete;
  DeviceProducts& operator=(const DeviceProducts&) = delete;

  /// Queues one product of matrices in device memory, which are aligned to floats. Does nothing if m or n is 0; k is at least 1.
  void operator()(const Product& product, const Stream& stream, Asked from = Asked::current());

 private:
  struct Choices;
  std::unique_ptr<Choices> choices_;
};

/// Name, version and precision for reports: "cuBLASLt 13.0.2, tf32". Call it only if why_no_products() is empty.
std::string products_name(ProductPrecision precision);

/// The reason why no ProductLibrary can be made on any device: cuBLASLt cannot be loaded. Empty if it can.
std::string why_no_products();

// cuBLASLt takes column-major matrices. A row-major matrix is in memory what its transpose is column-major, so C = A B is passed as
// C' = B' A'.

/// A factor for cuBLASLt: a column-major matrix of rows x columns floats, columns `stride` apart. `turned`: the factor is its transpose.
struct ColumnMajorFactor {
  const float* at;
  int rows, columns, stride;
  bool turned;
};
/// A product for cuBLASLt: result (rows x columns, column-major, columns `stride` apart) = scale first second + plus.
struct ColumnMajorProduct {
  ColumnMajorFactor first, second;
  int rows, columns, stride;
};
inline ColumnMajorProduct column_major(const Product& p) {
  const bool turn_a = p.way == Product::Way::transposed, turn_b = p.way == Product::Way::by_transposed;
  return {{p.b, turn_b ? p.k : p.n, turn_b ? p.n : p.k, p.ldb, turn_b},
          {p.a, turn_a ? p.m : p.k, turn_a ? p.k : p.m, p.lda, turn_a},
          p.n,
          p.m,
          p.ldc};
}

}  // namespace odrpo
