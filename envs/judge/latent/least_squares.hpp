// Least sums of squares of a function inside bounds, for few parameters.
#pragma once
#include <functional>
#include <vector>

namespace odrpo {

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b);

/// Solves a x = b for symmetric a, [n][n]. False where a is not positive definite, up to 1e-12.
bool solve(Vector a, Vector b, Vector& x);

struct Bounds {
  Vector low, high;  ///< of each parameter
  Vector step;       ///< for differences: where the function has steps of its own, well above them
};

using ResidualFunction = std::function<Vector(const Vector&)>;

/// d residual / d parameter, [parameters][residuals], by differences inside the bounds.
std::vector<Vector> slopes(const ResidualFunction& residual, const Bounds& bounds, const Vector& at);

struct LeastSquares {
  Vector at, residual;
};

/// Levenberg-Marquardt steps from `start` to a local least sum of squared residuals; stops when a step gains less than one in a thousand.
LeastSquares least_squares(const ResidualFunction& residual, const Bounds& bounds, const Vector& start);

}  // namespace odrpo
