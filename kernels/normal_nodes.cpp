// Computes the nodes of Gauss-Hermite quadrature: the roots of Hermite polynomials.
#include "kernels/normal_nodes.hpp"

#include <cstddef>
#include <utility>

#include "kernels/math.hpp"

namespace odrpo {
namespace {

/// The values of the orthonormal Hermite polynomials h_n and h_{n-1} at x, by sqrt(k+1) h_{k+1} = x h_k - sqrt(k) h_{k-1}.
std::pair<double, double> hermite(int n, double x) {
  double before = 0, now = 1;
  for (int k = 0; k < n; ++k) {
    const double next = (x * now - math::sqrt(static_cast<double>(k)) * before) / math::sqrt(k + 1.0);
    before = now;
    now = next;
  }
  return {now, before};
}

}  // namespace

NormalNodes normal_nodes(int n) {
  // all n roots lie within +-2 sqrt(n), and no two of them in one cell of this grid. So h_n changes its sign in n of the cells
  NormalNodes nodes;
  const double end = 2 * math::sqrt(static_cast<double>(n)) + 1;
  const int cells = 199 * n;  // for odd n this is odd, so the root 0 is inside a cell and not at its edge
  double left = -end, value = hermite(n, left).first;
  for (int i = 1; i <= cells; ++i) {
    const double right = -end + 2 * end * i / cells, next = hermite(n, right).first;
    if ((value < 0) != (next < 0)) {
      double a = left, b = right;
      for (int step = 0; step < 80; ++step) {
        const double middle = 0.5 * (a + b);
        if ((hermite(n, middle).first < 0) == (value < 0)) a = middle;
        else b = middle;
      }
      const double x = 0.5 * (a + b), last = hermite(n, x).second;
      nodes.point.push_back(x);
      nodes.weight.push_back(1 / (n * last * last));
    }
    left = right;
    value = next;
  }
  return nodes;
}

}  // namespace odrpo
