// Computes nodes of Gauss-Hermite quadrature, for means of functions of a standard normal variable.
#pragma once
#include <vector>

namespace odrpo {

/// Points (ascending) and weights for a standard normal variable z: E f(z) = sum of weight f(point), exact for polynomials f of degree
/// below 2 n.
struct NormalNodes {
  std::vector<double> point, weight;
};

/// Computes n = 1..64 points and weights, with the same bits on every machine. It takes a millisecond at n = 20: do not call it in loops.
NormalNodes normal_nodes(int n);

}  // namespace odrpo
