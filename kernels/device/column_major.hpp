// A product of row-major matrices as libraries of column-major ones take it: C = A B is C' = B' A', and memory of a row-major matrix is
// that of its transpose, column-major.
#pragma once
#include "kernels/device/backend.hpp"

namespace odrpo {

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
