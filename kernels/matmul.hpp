// Multiplies matrices on one thread, by OpenBLAS or by our own blocked product, which replaces it where it is not built in.
#pragma once
#include <cstddef>
#include <string>

#include "kernels/isa.hpp"

namespace odrpo {

/// The functions with which a ProductEngine multiplies row-major matrices. C = A B, or with `add` C += A B. C is m x n, B is k x n, and
/// rows of A, B and C are lda, ldb and ldc floats apart. `plain` takes A as m x k, `transposed` as k x m (for A' B). An engine gives the
/// same bits for equal calls on one kind of processor; two engines differ in the last bits.
struct Products {
  using Product = void (*)(int m, int n, int k, const float* a, std::ptrdiff_t lda, const float* b, std::ptrdiff_t ldb, float* c,
                           std::ptrdiff_t ldc, bool add);
  Product plain, transposed;
};

/// The engines of matrix products: our own code for each instruction set (avx2 with fused multiply-add), and OpenBLAS on one thread.
enum class ProductEngine { portable, avx2, avx512, blas };
/// True if this build and this processor have the engine. OpenBLAS needs a build with ODRPO_BLAS=ON.
bool has_engine(ProductEngine engine);
/// OpenBLAS if it is built in; else our own product in the widest instruction set, or the portable one if `isa` is Isa::portable.
ProductEngine best_engine(Isa isa);
const Products& products(ProductEngine engine);
/// The engine's name for reports; that of OpenBLAS includes its version and kernel.
std::string engine_name(ProductEngine engine);

/// Sets to[columns][rows] to the transpose of from[rows][columns]; rows of both follow each other without padding.
void transpose_matrix(const float* from, int rows, int columns, float* to);

}  // namespace odrpo
