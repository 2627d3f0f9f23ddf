// Minimises the sum of squares of a vector-valued function of few parameters, inside bounds.
#pragma once
#include <functional>
#include <vector>

namespace odrpo {

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b);

/// Solves a x = b for a symmetric matrix a, [n][n]. Returns false if a is not positive definite (a pivot is 1e-12 or less).
bool solve(Vector a, Vector b, Vector& x);

/// Bounds and step sizes of the parameters.
struct Bounds {
  Vector low, high;  ///< least and largest value of each parameter
  Vector step;       ///< step of difference quotients; must be well above the size of jumps of the function, if any
};

using ResidualFunction = std::function<Vector(const Vector&)>;

/// Derivatives d residual / d parameter at `at`, [parameters][residuals], by central differences clipped to the bounds.
std::vector<Vector> slopes(const ResidualFunction& residual, const Bounds& bounds, const Vector& at);

/// Result of least_squares(): the parameters at the minimum, and the residuals there.
struct LeastSquares {
  Vector at, residual;
};

/// Finds a local minimum of the sum of squared residuals by Levenberg-Marquardt steps from `start`. Stops when a step lowers it by < 0.1 %.
LeastSquares least_squares(const ResidualFunction& residual, const Bounds& bounds, const Vector& start);

}  // namespace odrpo
