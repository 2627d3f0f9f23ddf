// A random product with the exact one in double: how far any engine's is from it.
#pragma once
#include <array>
#include <cmath>
#include <vector>

#include "kernels/device/backend.hpp"
#include "tests/policies/transformer/host_backend.hpp"
#include "tests/policies/transformer/samples.hpp"

namespace odrpo {

/// Where matrices lie, and the factor.
struct ProductLayout {
  int offset;  ///< floats from aligned memory to each matrix
  bool apart;  ///< what is added is not where the product goes
  float scale;
};
/// m, n, k.
using ProductShape = std::array<int, 3>;

/// Factors, and what is added, are standard normal; rows lie 8 floats further apart than they must.
struct ProductSample {
  Product::Way way;
  int m, n, k, lda, ldb, ldc, offset;
  bool add, apart;
  float scale;
  std::vector<float> a, b, start, added;  ///< `start`: what lies where the product goes
  std::vector<double> exact;              ///< [m][n]

  ProductSample(Product::Way w, const ProductShape& shape, bool adds, const ProductLayout& lies)
      : way(w), m(shape[0]), n(shape[1]), k(shape[2]), offset(lies.offset), add(adds), apart(lies.apart), scale(lies.scale) {
    using transformer_samples::normals;
    const bool turn_a = way == Product::Way::transposed, turn_b = way == Product::Way::by_transposed;
    lda = (turn_a ? m : k) + 8, ldb = (turn_b ? k : n) + 8, ldc = n + 8;
    a = normals<float>(offset + at(turn_a ? k : m, 0, lda), 1);
    b = normals<float>(offset + at(turn_b ? n : k, 0, ldb), 2);
    start = normals<float>(offset + at(m, 0, ldc), 3), added = normals<float>(start.size(), 4);
    exact.assign(static_cast<std::size_t>(m) * n, 0.0);
    for (int i = 0; i < m; ++i)
      for (int l = 0; l < k; ++l) {
        const double x = a[offset + (turn_a ? at(l, i, lda) : at(i, l, lda))];
        for (int j = 0; j < n; ++j) exact[at(i, j, n)] += x * b[offset + (turn_b ? at(j, l, ldb) : at(l, j, ldb))];
      }
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j)
        exact[at(i, j, n)] = scale * exact[at(i, j, n)] + (add ? (apart ? added : start)[offset + at(i, j, ldc)] : 0.0f);
  }
  /// The product of these pieces of memory, which hold a, b, start and added.
  Product of(const float* pa, const float* pb, float* pc, const float* padded) const {
    const float* plus = !add ? nullptr : (apart ? padded : pc) + offset;
    return {way, m, n, k, pa + offset, lda, pb + offset, ldb, plus, pc + offset, ldc, scale};
  }
  /// Largest distance of `got`, which lies as `start` does, from the exact product, relative to the largest.
  double gap(const std::vector<float>& got) const {
    double worst = 0, size = 0;
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        const double off = std::fabs(got[offset + at(i, j, ldc)] - exact[at(i, j, n)]);
        if (!(off < 1e30)) return 1e30;
        worst = std::fmax(worst, off);
        size = std::fmax(size, std::fabs(exact[at(i, j, n)]));
      }
    return worst / size;
  }
  /// The same by a queue of the host.
  double host_gap(host_backend::HostBackend host) const {
    std::vector<float> c = start;
    host.product(of(a.data(), b.data(), c.data(), added.data()));
    return gap(c);
  }

 private:
  static std::size_t at(int i, int j, int ld) { return static_cast<std::size_t>(i) * ld + j; }
};

inline constexpr Product::Way product_ways[] = {Product::Way::plain, Product::Way::transposed, Product::Way::by_transposed};
/// The last is the sum over all rows of a batch of 64 x 8 responses.
inline constexpr ProductShape product_shapes[] = {{512, 192, 64}, {512, 64, 256}, {13, 6, 16}, {1, 8, 8}, {77, 13, 24}, {64, 256, 12288}};
inline constexpr ProductLayout product_layouts[] = {{0, false, 1}, {1, false, 1}, {0, true, 0.5}, {1, true, 0.5}};

}  // namespace odrpo
