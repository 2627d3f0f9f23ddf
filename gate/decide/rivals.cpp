// Two means and a threshold; Mann and Whitney's U test.
#include "gate/decide/rivals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace odrpo {
namespace {

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

GateVerdict two_means_verdict(std::span<const double> baseline, std::span<const double> candidate, double threshold) {
  const double ratio = mean_of(candidate) / mean_of(baseline);
  if (ratio > 1 + threshold) return GateVerdict::slower;
  if (ratio < 1 / (1 + threshold)) return GateVerdict::faster;
  return GateVerdict::same;
}

double u_test_p(std::span<const double> a, std::span<const double> b) {
  const double na = static_cast<double>(a.size()), nb = static_cast<double>(b.size()), n = na + nb;
  if (a.empty() || b.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<std::pair<double, bool>> all;  // value, is it of a
  for (const double x : a) all.emplace_back(x, true);
  for (const double x : b) all.emplace_back(x, false);
  std::sort(all.begin(), all.end());
  double ranks_of_a = 0, ties = 0;  // ties: sum of t^3 - t over groups of t equal values
  for (std::size_t from = 0; from < all.size();) {
    std::size_t to = from;
    while (to < all.size() && all[to].first == all[from].first) ++to;
    const double rank = (static_cast<double>(from + to) + 1) / 2, t = static_cast<double>(to - from);  // ranks from + 1 .. to
    for (std::size_t i = from; i < to; ++i) ranks_of_a += all[i].second ? rank : 0;
    ties += t * t * t - t;
    from = to;
  }
  const double u = ranks_of_a - na * (na + 1) / 2, away = std::abs(u - na * nb / 2);
  const double variance = na * nb / 12 * ((n + 1) - ties / (n * (n - 1)));
  if (!(variance > 0)) return 1;
  return std::min(1.0, std::erfc((away - 0.5) / std::sqrt(2 * variance)));
}

}  // namespace odrpo
