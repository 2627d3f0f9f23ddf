// Finds the weights of several rewards from the advantages that a trainer logged.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "train/rollouts/logged.hpp"

namespace odrpo {
namespace {

constexpr double most_changed = 1e-3;   // of the largest weight, by rounding
constexpr double near_zero = 1e-10;      // an eigenvalue that floats make of 0, of columns of unit length

/// The eigenvector of the least eigenvalue of a symmetric matrix, that eigenvalue and the next one.
struct Least {
  std::vector<double> vector;
  double value, next;
};

/// By Jacobi's rotations. m: [n][n].
Least least_eigenvector(std::vector<double> m, std::size_t n) {
  std::vector<double> v(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) v[i * n + i] = 1;
  for (int sweep = 0; sweep < 60; ++sweep)
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        const double off = m[p * n + q];
        if (off == 0) continue;
        const double theta = (m[q * n + q] - m[p * n + p]) / (2 * off), t = (theta < 0 ? -1 : 1) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (std::size_t i = 0; i < n; ++i) {
          const double a = m[i * n + p], b = m[i * n + q];
          m[i * n + p] = c * a - s * b, m[i * n + q] = s * a + c * b;
        }
        for (std::size_t i = 0; i < n; ++i) {
          const double a = m[p * n + i], b = m[q * n + i];
          m[p * n + i] = c * a - s * b, m[q * n + i] = s * a + c * b;
          const double x = v[i * n + p], y = v[i * n + q];
          v[i * n + p] = c * x - s * y, v[i * n + q] = s * x + c * y;
        }
      }
  std::size_t least = 0;
  for (std::size_t i = 1; i < n; ++i)
    if (m[i * n + i] < m[least * n + least]) least = i;
  Least out{std::vector<double>(n), m[least * n + least], std::numeric_limits<double>::infinity()};
  for (std::size_t i = 0; i < n; ++i) {
    out.vector[i] = v[i * n + least];
    if (i != least) out.next = std::min(out.next, m[i * n + i]);
  }
  return out;
}

/// Rows and columns `used` of a matrix [n][n], in units of the lengths whose squares are `spread`.
std::vector<double> in_units(std::span<const double> matrix, std::size_t n, std::span<const double> spread, const std::vector<std::size_t>& used) {
  std::vector<double> part;
  for (const std::size_t i : used)
    for (const std::size_t j : used) part.push_back(matrix[i * n + j] / std::sqrt(spread[i] * spread[j]));
  return part;
}

void centre(std::span<double> values) {
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  for (double& x : values) x -= mean;
}

}  // namespace

SolvedWeights solve_weights(const Rollouts& rollouts) {
  const std::size_t columns = rollouts.columns();
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> moment(columns * columns, 0.0), gram(columns * columns, 0.0), spread(columns, 0.0), with(columns, 0.0);
  std::vector<std::vector<double>> x(columns);
  std::vector<double> a, along(columns);
  // Of each group: the part of every centred column that is perpendicular to the advantages. The weights make their sum vanish.
  for (const RolloutGroup& g : rollouts.groups) {
    a.assign(rollouts.advantage.begin() + g.first, rollouts.advantage.begin() + g.first + g.count);
    if (g.count < 2 || std::any_of(a.begin(), a.end(), [](double v) { return v != v; })) continue;
    centre(a);
    const double length = std::inner_product(a.begin(), a.end(), a.begin(), 0.0);
    for (std::size_t c = 0; c < columns; ++c) {
      x[c].resize(g.count);
      for (std::size_t i = 0; i < g.count; ++i) {
        const double r = rollouts.rewards[(g.first + i) * columns + c];
        x[c][i] = r == r ? r : 0.0;
      }
      centre(x[c]);
      along[c] = std::inner_product(x[c].begin(), x[c].end(), a.begin(), 0.0);
      spread[c] += std::inner_product(x[c].begin(), x[c].end(), x[c].begin(), 0.0);
      with[c] += along[c];
    }
    for (std::size_t c = 0; c < columns; ++c)
      for (std::size_t d = 0; d < columns; ++d) {
        const double product = std::inner_product(x[c].begin(), x[c].end(), x[d].begin(), 0.0);
        gram[c * columns + d] += product;
        moment[c * columns + d] += product - (length > 1e-12 ? along[c] * along[d] / length : 0.0);
      }
  }
  std::vector<std::size_t> used;
  for (std::size_t c = 0; c < columns; ++c)
    if (spread[c] > 0) used.push_back(c);
  if (used.empty()) return {};
  SolvedWeights out;
  // a column that others give in every group adds a direction with a sum of 0, which leaves nothing either
  while (used.size() > 1) {
    const Least null = least_eigenvector(in_units(gram, columns, spread, used), used.size());
    if (null.value > near_zero) break;
    std::size_t last = used.size() - 1;
    while (last > 0 && std::fabs(null.vector[last]) < 1e-4) --last;
    out.dependent.insert(out.dependent.begin(), used[last]);
    used.erase(used.begin() + static_cast<std::ptrdiff_t>(last));
  }
  const Least least = least_eigenvector(in_units(moment, columns, spread, used), used.size());
  out.open = least.next <= near_zero;
  const std::vector<double>& of_unit = least.vector;
  std::vector<double> weights(columns, unknown);
  for (const std::size_t c : out.dependent) weights[c] = 0;
  double sign = 0, most = 0;
  for (std::size_t i = 0; i < used.size(); ++i) {
    weights[used[i]] = of_unit[i] / std::sqrt(spread[used[i]]);
    sign += weights[used[i]] * with[used[i]], most = std::max(most, std::fabs(of_unit[i]));
  }
  if (sign == 0 || most == 0) return out;
  double first = 0;
  for (std::size_t i = 0; i < used.size() && first == 0; ++i)
    if (std::fabs(of_unit[i]) > 1e-6 * most) first = std::fabs(weights[used[i]]);
  for (double& w : weights) w *= (sign < 0 ? -1 : 1) / first;
  out.weights = std::move(weights);
  return out;
}

std::vector<double> rounded_weights(std::span<const double> weights) {
  double most = 0;
  for (const double w : weights) most = std::max(most, std::fabs(w));
  std::vector<double> out(weights.begin(), weights.end());
  for (double& w : out)
    for (double unit = 1; unit < 1e5 && most > 0; unit *= 10) {
      const double near = std::round(w * unit) / unit;
      if (std::fabs(near - w) > most_changed * most) continue;
      w = near;
      break;
    }
  return out;
}

}  // namespace odrpo
