// Computes nodes of Gauss-Legendre quadrature.
#include "envs/rater/tie_nodes.hpp"

#include <vector>

#include "kernels/math.hpp"

namespace odrpo {
namespace {

/// Gauss-Legendre nodes and weights on 0..1, by Newton's method from the usual cosine approximation.
TieNodes gauss_legendre(int n) {
  TieNodes rule;
  rule.count = n;
  for (int i = 0; i < n; ++i) {
    double x = math::sincos_turn(0.5 * (i + 0.75) / (n + 0.5)).cos, slope = 1;
    for (int round = 0; round < 8; ++round) {
      double before = 1, here = x;
      for (int k = 2; k <= n; ++k) {
        const double next = ((2 * k - 1) * x * here - (k - 1) * before) / k;
        before = here;
        here = next;
      }
      slope = n * (x * here - before) / (x * x - 1);
      x -= here / slope;
    }
    rule.z[i] = 0.5 * (1 + x);
    rule.weight[i] = 1 / ((1 - x * x) * slope * slope);
  }
  return rule;
}

}  // namespace

const TieNodes& tie_nodes(int tied) {
  static const std::vector<TieNodes> rules = [] {
    std::vector<TieNodes> made(1);
    for (int n = 1; n <= TieNodes::most; ++n) made.push_back(gauss_legendre(n));
    return made;
  }();
  return rules[static_cast<std::size_t>(tied / 2 + 1)];
}

}  // namespace odrpo
