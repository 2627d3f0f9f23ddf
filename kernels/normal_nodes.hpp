// Gauss-Hermite quadrature: means of functions of a standard normal variable.
#pragma once
#include <vector>

namespace odrpo {

/// Points (ascending) and weights for a standard normal z: the mean of f(z) is the sum of weight f(point), exact for polynomials of degree
/// below 2 n.
struct NormalNodes {
  std::vector<double> point, weight;
};

/// n = 1..64 points. The same bits everywhere. Takes a millisecond at n = 20: call it once, not in a loop.
NormalNodes normal_nodes(int n);

}  // namespace odrpo
