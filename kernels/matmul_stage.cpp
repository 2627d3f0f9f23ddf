// Multiplies matrices in blocks. Compiled once per instruction set, with fused multiply-add if the instruction set has it.
#include <algorithm>
#include <cstddef>

#include "kernels/matmul.hpp"
#include "kernels/portable.hpp"

namespace odrpo::ODRPO_ISA {

namespace {

// a tile of C has `tile_rows` rows of two vectors, and stays in registers
#if defined(__AVX512F__)
constexpr int width = 16, tile_rows = 12;
#elif defined(__AVX2__)
constexpr int width = 8, tile_rows = 6;
#else
constexpr int width = 4, tile_rows = 4;
#endif
constexpr int panel = 2 * width, depth = 8192 / panel;  // a packed panel of B takes 32 KiB, so it stays in the L1 cache

typedef float vec __attribute__((vector_size(4 * width)));
typedef float vec_loose __attribute__((vector_size(4 * width), aligned(4), may_alias));
inline vec load(const float* p) { return *reinterpret_cast<const vec_loose*>(p); }
inline void store(float* p, vec v) { *reinterpret_cast<vec_loose*>(p) = v; }

// C[rows][columns] = A[rows][k] B[k][panel] (`add`: C +=). If columns < panel, the results go through a buffer
template <int rows, bool transposed>
void tile(int k, const float* a, std::ptrdiff_t lda, const float* b, float* c, std::ptrdiff_t ldc, int columns, bool add) {
  vec sum[rows][2];
  ODRPO_UNROLL
  for (int r = 0; r < rows; ++r) sum[r][0] = sum[r][1] = vec{};
  for (int i = 0; i < k; ++i, b += panel) {
    const vec b0 = load(b), b1 = load(b + width);
    ODRPO_UNROLL
    for (int r = 0; r < rows; ++r) {
      const float x = transposed ? a[i * lda + r] : a[r * lda + i];
      sum[r][0] += x * b0;
      sum[r][1] += x * b1;
    }
  }
  if (columns == panel) {
    ODRPO_UNROLL
    for (int r = 0; r < rows; ++r) {
      float* to = c + r * ldc;
      store(to, add ? load(to) + sum[r][0] : sum[r][0]);
      store(to + width, add ? load(to + width) + sum[r][1] : sum[r][1]);
    }
    return;
  }
  for (int r = 0; r < rows; ++r) {
    float copy[panel];
    store(copy, sum[r][0]);
    store(copy + width, sum[r][1]);
    for (int j = 0; j < columns; ++j) c[r * ldc + j] = add ? c[r * ldc + j] + copy[j] : copy[j];
  }
}

// Copies B[k][columns] to rows of `panel` floats each, padded with zeros
void pack(int k, int columns, const float* b, std::ptrdiff_t ldb, float* to) {
  for (int i = 0; i < k; ++i, b += ldb, to += panel) {
    if (columns == panel) {
      store(to, load(b));
      store(to + width, load(b + width));
    } else {
      for (int j = 0; j < panel; ++j) to[j] = j < columns ? b[j] : 0.0f;
    }
  }
}

template <bool transposed>
void product(int m, int n, int k, const float* a, std::ptrdiff_t lda, const float* b, std::ptrdiff_t ldb, float* c, std::ptrdiff_t ldc,
             bool add) {
  alignas(64) float packed[depth * panel];
  for (int k0 = 0; k0 < k; k0 += depth) {
    const int kn = std::min(depth, k - k0);
    const bool more = add || k0 > 0;
    for (int j = 0; j < n; j += panel) {
      const int columns = std::min(panel, n - j);
      pack(kn, columns, b + k0 * ldb + j, ldb, packed);
      const auto at = [&](int i) { return transposed ? a + k0 * lda + i : a + i * lda + k0; };
      int i = 0;
      for (; i + tile_rows <= m; i += tile_rows) tile<tile_rows, transposed>(kn, at(i), lda, packed, c + i * ldc + j, ldc, columns, more);
      for (; i + 4 <= m; i += 4) tile<4, transposed>(kn, at(i), lda, packed, c + i * ldc + j, ldc, columns, more);
      for (; i < m; ++i) tile<1, transposed>(kn, at(i), lda, packed, c + i * ldc + j, ldc, columns, more);
    }
  }
}

}  // namespace

extern const Products own_products;
const Products own_products = {product<false>, product<true>};

}  // namespace odrpo::ODRPO_ISA
