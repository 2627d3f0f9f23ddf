// Compares advantages with true rewards, and resamples prompts and truths.
#include "train/rollouts/truth_sums.hpp"

#include <algorithm>
#include <limits>

#include "kernels/math.hpp"
#include "results/stats/bootstrap.hpp"

namespace odrpo {

void TruthSums::add(const TruthSums& o) {
  turned += o.turned, signs += o.signs, wrong += o.wrong, pairs += o.pairs, product += o.product, advantage += o.advantage, truth += o.truth;
}

std::array<double, 3> TruthSums::ratios() const { return {turned / signs, wrong / pairs, product / math::sqrt(advantage * truth)}; }

TruthSums compared(std::span<const double> a, std::span<const double> q) {
  constexpr double rounding = 1e-9;  // of the largest: differences below it are none
  const std::size_t n = a.size();
  TruthSums s;
  double mean = 0, large_a = 0, large_t = 0;
  for (const double x : q) mean += x / static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) large_a = std::max(large_a, math::abs(a[i])), large_t = std::max(large_t, math::abs(q[i] - mean));
  const auto sign = [](double x, double large) { return x > rounding * large ? 1 : x < -rounding * large ? -1 : 0; };
  for (std::size_t i = 0; i < n; ++i) {
    const double t = q[i] - mean;
    const int both = sign(a[i], large_a) * sign(t, large_t);
    s.signs += both != 0;
    s.turned += both < 0;
    s.product += a[i] * t;
    s.advantage += a[i] * a[i];
    s.truth += t * t;
    for (std::size_t j = 0; j < i; ++j) {
      const int order = sign(q[i] - q[j], large_t), of_a = sign(a[i] - a[j], large_a);
      s.pairs += order != 0;
      s.wrong += order == 0 ? 0 : of_a == 0 ? 0.5 : of_a != order;
    }
  }
  return s;
}

JudgedAdvantages DrawnSums::numbers(int resamples, std::uint64_t seed) const {
  std::array<std::vector<double>, 3> resampled;
  const std::uint32_t sizes[] = {static_cast<std::uint32_t>(units_)};
  Picks picks;
  for (int r = 0; r < resamples; ++r) {
    draw_picks(sizes, seed, static_cast<std::uint32_t>(r), picks);
    TruthSums all;
    for (const std::uint32_t unit : picks[0]) all.add(sums_[unit * draws_ + static_cast<std::size_t>(r) % draws_]);
    const auto ratios = all.ratios();
    for (std::size_t i = 0; i < ratios.size(); ++i) resampled[i].push_back(ratios[i]);
  }
  TruthSums all;
  for (const TruthSums& s : sums_) all.add(s);
  const auto values = all.ratios();
  JudgedAdvantages out;
  JudgedNumber* const numbers[] = {&out.sign, &out.pairs, &out.cosine};
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::vector<double>& list = resampled[i];
    if (std::any_of(list.begin(), list.end(), [](double x) { return x != x; })) list.clear();
    std::sort(list.begin(), list.end());
    const Interval interval = percentile_interval({values[i], std::move(list), std::numeric_limits<double>::quiet_NaN()});
    *numbers[i] = {values[i], interval.lo, interval.hi};
  }
  return out;
}

}  // namespace odrpo
