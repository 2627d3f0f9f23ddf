// Takes Levenberg-Marquardt steps inside bounds. A parameter at a bound stays there for a step if the sum of squares falls outwards.
#include "envs/judge/latent/least_squares.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace odrpo {

double dot(const Vector& a, const Vector& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

bool solve(Vector a, Vector b, Vector& x) {
  const std::size_t n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    if (!(a[i * n + i] > 1e-12)) return false;
    for (std::size_t k = i + 1; k < n; ++k) {
      const double f = a[k * n + i] / a[i * n + i];
      for (std::size_t c = i; c < n; ++c) a[k * n + c] -= f * a[i * n + c];
      b[k] -= f * b[i];
    }
  }
  x = b;
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t c = i + 1; c < n; ++c) x[i] -= a[i * n + c] * x[c];
    x[i] /= a[i * n + i];
  }
  return true;
}

std::vector<Vector> slopes(const ResidualFunction& residual, const Bounds& bounds, const Vector& at) {
  std::vector<Vector> out;
  for (std::size_t i = 0; i < at.size(); ++i) {
    Vector probe = at;
    const double up = std::min(at[i] + bounds.step[i], bounds.high[i]), down = std::max(at[i] - bounds.step[i], bounds.low[i]);
    probe[i] = up;
    Vector d = residual(probe);
    probe[i] = down;
    const Vector other = residual(probe);
    for (std::size_t m = 0; m < d.size(); ++m) d[m] = (d[m] - other[m]) / (up - down);
    out.push_back(std::move(d));
  }
  return out;
}

LeastSquares least_squares(const ResidualFunction& residual, const Bounds& bounds, const Vector& start) {
  const Vector &low = bounds.low, &high = bounds.high;
  Vector at = start, r = residual(at);
  double value = dot(r, r), damping = 0.01;
  for (int iteration = 0; iteration < 25; ++iteration) {
    const std::vector<Vector> slope = slopes(residual, bounds, at);
    std::vector<std::size_t> moving;  // parameters that the step may change
    for (std::size_t i = 0; i < at.size(); ++i) {
      const double downhill = -dot(slope[i], r);
      if (!(at[i] <= low[i] && downhill < 0) && !(at[i] >= high[i] && downhill > 0)) moving.push_back(i);
    }
    const std::size_t n = moving.size();
    Vector square(n * n), down(n), move;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < n; ++k) square[i * n + k] = dot(slope[moving[i]], slope[moving[k]]);
      down[i] = -dot(slope[moving[i]], r);
    }
    const double before = value;
    bool better = false;
    for (int attempt = 0; attempt < 6 && !better; ++attempt) {
      Vector damped = square;
      for (std::size_t i = 0; i < n; ++i) damped[i * n + i] += damping * (square[i * n + i] + 1e-3);
      if (!solve(damped, down, move)) break;
      Vector next = at;
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t k = moving[i];
        next[k] = std::clamp(at[k] + std::clamp(move[i], -1.0, 1.0), low[k], high[k]);
      }
      const Vector there = residual(next);
      better = dot(there, there) < value;
      if (better) at = next, r = there, value = dot(r, r);
      damping = better ? damping * 0.2 : std::max(damping * 8, 0.01);
    }
    if (!better || before - value < 1e-3 * before) break;
  }
  return {at, r};
}

}  // namespace odrpo
