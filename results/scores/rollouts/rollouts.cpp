// Implements what rollouts.hpp says of rollouts that were read.
#include "results/scores/rollouts/rollouts.hpp"

#include <cmath>

namespace odrpo {
namespace {

constexpr double of_doubles = 4e-15, of_floats = 1.2e-7;  // relative: what sums of a few doubles, or of floats written as doubles, lose

/// The decimal with the fewest digits that differs from a sum by rounding alone. `size`: of its terms, whose sum may cancel. As floats only sums close to a
/// decimal that is 50 times coarser than their rounding are taken for it.
double without_rounding(double sum, double size, bool floats) {
  double unit = 1;
  for (int digits = 0; digits <= 12; ++digits, unit *= 10) {
    const double decimal = std::round(sum * unit) / unit, away = std::fabs(decimal - sum);
    if (away <= of_doubles * size || (floats && away <= of_floats * size && 50 * of_floats * size * unit <= 1)) return decimal + 0.0;
  }
  return sum;
}

}  // namespace

std::vector<double> Rollouts::total(std::span<const double> weight) const {
  const std::size_t n = columns();
  std::vector<double> sum(rows(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < sum.size(); ++i) {
    double size = 0;
    for (std::size_t c = 0; c < n; ++c)
      if (const double r = rewards[i * n + c]; r == r) sum[i] = (sum[i] == sum[i] ? sum[i] : 0) + weight[c] * r, size += std::fabs(weight[c] * r);
    if (sum[i] == sum[i]) sum[i] = without_rounding(sum[i], size, n > 1);
  }
  return sum;
}

}  // namespace odrpo
