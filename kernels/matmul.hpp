// Matrix products on one thread: the door to BLAS, and our own blocked product that stands in for it.
#pragma once
#include <cstddef>
#include <string>

#include "kernels/isa.hpp"

namespace odrpo {

/// One engine's products of row-major matrices. C (+)= A B with C m x n, sums over k; rows of A, B and C are lda, ldb and ldc floats apart;
/// `add` keeps what C holds. `plain` reads A as m x k, `transposed` as k x m (C (+)= A' B).
/// An engine gives the same bits for the same call on the same kind of processor; two engines differ in the last bits.
struct Products {
  using Product = void (*)(int m, int n, int k, const float* a, std::ptrdiff_t lda, const float* b, std::ptrdiff_t ldb, float* c,
                           std::ptrdiff_t ldc, bool add);
  Product plain, transposed;
};

/// Engines: our own product in each instruction set (avx2 with fused multiply-add), and OpenBLAS on one thread.
enum class ProductEngine { portable, avx2, avx512, blas };
/// Do this build and this processor have it? OpenBLAS is there when configured with ODRPO_BLAS=ON.
bool has_engine(ProductEngine engine);
/// OpenBLAS if it was configured, else our own product in the widest instruction set; `portable` holds ours back, as it does all stages.
ProductEngine best_engine(Isa isa);
const Products& products(ProductEngine engine);
/// Its name, with version and kernel of OpenBLAS.
std::string engine_name(ProductEngine engine);

/// to[columns][rows] = transpose of from[rows][columns], both dense.
void transpose_matrix(const float* from, int rows, int columns, float* to);

}  // namespace odrpo
