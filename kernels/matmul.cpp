// Chooses the engine of matrix products, and calls BLAS.
#include "kernels/matmul.hpp"

#include <algorithm>
#if defined(ODRPO_HAVE_BLAS)
#include <cblas.h>
#endif

namespace odrpo {

namespace portable {
extern const Products own_products;
}
namespace avx2 {
extern const Products own_products;
}
namespace avx512 {
extern const Products own_products;
}

namespace {

#if defined(ODRPO_HAVE_BLAS)
void blas_plain(int m, int n, int k, const float* a, std::ptrdiff_t lda, const float* b, std::ptrdiff_t ldb, float* c, std::ptrdiff_t ldc,
                bool add) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0f, a, static_cast<int>(lda), b, static_cast<int>(ldb),
              add ? 1.0f : 0.0f, c, static_cast<int>(ldc));
}
void blas_transposed(int m, int n, int k, const float* a, std::ptrdiff_t lda, const float* b, std::ptrdiff_t ldb, float* c,
                     std::ptrdiff_t ldc, bool add) {
  cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, m, n, k, 1.0f, a, static_cast<int>(lda), b, static_cast<int>(ldb), add ? 1.0f : 0.0f,
              c, static_cast<int>(ldc));
}
constexpr Products blas_products = {blas_plain, blas_transposed};
constexpr bool have_blas = true;
#else
constexpr bool have_blas = false;
#endif

}  // namespace

bool has_engine(ProductEngine engine) {
  switch (engine) {
    case ProductEngine::blas: return have_blas;
#if defined(__x86_64__)
    case ProductEngine::avx2: return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case ProductEngine::avx512: return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma");
#endif
    default: return engine == ProductEngine::portable;
  }
}

ProductEngine best_engine(Isa isa) {
  if (have_blas) return ProductEngine::blas;
  if (isa == Isa::portable) return ProductEngine::portable;
  for (ProductEngine engine : {ProductEngine::avx512, ProductEngine::avx2})
    if (has_engine(engine) && !(engine == ProductEngine::avx512 && isa == Isa::avx2)) return engine;
  return ProductEngine::portable;
}

const Products& products(ProductEngine engine) {
  switch (engine) {
#if defined(ODRPO_HAVE_BLAS)
    case ProductEngine::blas: openblas_set_num_threads(1); return blas_products;
#endif
    case ProductEngine::avx512: return avx512::own_products;
    case ProductEngine::avx2: return avx2::own_products;
    default: return portable::own_products;
  }
}

std::string engine_name(ProductEngine engine) {
  switch (engine) {
    case ProductEngine::avx512: return "own, avx512";
    case ProductEngine::avx2: return "own, avx2";
#if defined(ODRPO_HAVE_BLAS)
    case ProductEngine::blas: return std::string(openblas_get_config()) + ", one thread";
#endif
    default: return "own, portable";
  }
}

void transpose_matrix(const float* from, int rows, int columns, float* to) {
  constexpr int block = 16;
  for (int i0 = 0; i0 < rows; i0 += block)
    for (int j0 = 0; j0 < columns; j0 += block)
      for (int j = j0; j < std::min(columns, j0 + block); ++j)
        for (int i = i0; i < std::min(rows, i0 + block); ++i)
          to[static_cast<std::size_t>(j) * rows + i] = from[static_cast<std::size_t>(i) * columns + j];
}

}  // namespace odrpo
