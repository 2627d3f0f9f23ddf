// Matrix products on a CUDA device in plain C++: the door to cuBLASLt, which is loaded when first asked for, so that no program needs it to
// start. Built only where nvcc is. Everything here throws Failure(Exit::device) with the source line that asked.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "kernels/device/backend.hpp"
#include "kernels/device/devices.hpp"
#include "kernels/device/memory.hpp"

namespace odrpo {

/// cuBLASLt, open on one device: for the queues of any of its threads.
class ProductLibrary {
 public:
  /// Loads it: the file named by the environment variable ODRPO_CUBLASLT, else the one of this program's CUDA version; for the current device.
  explicit ProductLibrary(Asked from);  // given, for make_shared() would name its own line
  ~ProductLibrary();
  ProductLibrary(const ProductLibrary&) = delete;
  ProductLibrary& operator=(const ProductLibrary&) = delete;
  void* handle() const { return handle_; }

 private:
  void* handle_ = nullptr;
};

/// Products on the current device. Its choice for each shape is asked for once; its scratch belongs to this object, so that calls on one
/// stream at a time give the same bits for the same call.
class DeviceProducts {
 public:
  DeviceProducts(ProductPrecision precision, std::shared_ptr<ProductLibrary> library, Asked from = Asked::current());
  ~DeviceProducts();
  DeviceProducts(const DeviceProducts&) = delete;
  DeviceProducts& operator=(const DeviceProducts&) = delete;

  /// Queues one product of matrices in device memory, aligned to floats. An empty one (m or n is 0) is nothing; k is at least 1.
  void operator()(const Product& product, const Stream& stream, Asked from = Asked::current());

 private:
  struct Choices;
  std::unique_ptr<Choices> choices_;
};

/// "cuBLASLt 13.0.2, tf32" of one that can be made.
std::string products_name(ProductPrecision precision);

/// Why a ProductLibrary cannot be made here whatever the device: the library is missing; empty = it can be loaded.
std::string why_no_products();

// A product of row-major matrices as libraries of column-major ones take it: C = A B is C' = B' A', and memory of a row-major matrix is
// that of its transpose, column-major.

/// Column-major: rows x columns floats, columns `stride` apart; `turned`: its transpose is the factor.
struct ColumnMajorFactor {
  const float* at;
  int rows, columns, stride;
  bool turned;
};
/// result (rows x columns, columns `stride` apart) = scale first second + plus.
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
