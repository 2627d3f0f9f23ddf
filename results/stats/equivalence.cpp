// Two one-sided t tests of paired values.
#include "results/stats/equivalence.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace odrpo {
namespace {

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// `residuals` have the difference as their mean.
Equivalence of_residuals(std::span<const double> base, std::span<const double> other, std::span<const double> residuals, double margin,
                         double alpha) {
  Equivalence out;
  out.margin = margin;
  out.difference = mean_interval(residuals, 1 - 2 * alpha);
  if (std::equal(base.begin(), base.end(), other.begin())) {
    out.difference.lo = out.difference.hi = out.difference.mean;
    out.within = !base.empty();
    out.p = std::nan("");
    return out;
  }
  out.within = out.difference.lo > -margin && out.difference.hi < margin;  // false for NaN
  out.p = t_test_p(paired_difference(other, base));
  return out;
}

}  // namespace

Equivalence equivalence(std::span<const double> base, std::span<const double> other, double margin, double alpha) {
  std::vector<double> differences(base.size());
  for (std::size_t i = 0; i < base.size(); ++i) differences[i] = other[i] - base[i];
  return of_residuals(base, other, differences, margin, alpha);
}

Equivalence ratio_equivalence(std::span<const double> base, std::span<const double> other, double margin, double alpha) {
  const double mean = mean_of(base), ratio = mean_of(other) / mean;
  std::vector<double> residuals(base.size());
  for (std::size_t i = 0; i < base.size(); ++i) residuals[i] = (other[i] - ratio * base[i]) / mean + ratio - 1;
  return of_residuals(base, other, residuals, margin, alpha);
}

}  // namespace odrpo
