// Implements what rollouts.hpp says of rollouts that were read.
#include "results/scores/rollouts/rollouts.hpp"

namespace odrpo {

std::vector<double> Rollouts::total(std::span<const double> weight) const {
  const std::size_t n = columns();
  std::vector<double> sum(rows(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < sum.size(); ++i)
    for (std::size_t c = 0; c < n; ++c)
      if (const double r = rewards[i * n + c]; r == r) sum[i] = (sum[i] == sum[i] ? sum[i] : 0) + weight[c] * r;
  return sum;
}

}  // namespace odrpo
