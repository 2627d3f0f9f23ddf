// Draws resamples, computes their statistics, and makes percentile and BCa intervals. Uses only + - * / sqrt and kernels/math, whose bits
// are the same everywhere.
#include "results/stats/bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/math.hpp"
#include "kernels/random.hpp"
#include "results/stats/statistics.hpp"

namespace odrpo {
namespace {

constexpr std::uint32_t most_groups = 1000;
constexpr double tie_tolerance = 1e-13;  // relative to the largest value: sums of equal numbers in another order differ by less

/// Quantile of the standard normal distribution; NaN outside (0, 1). Evaluates the lower half, where a probability keeps all its digits.
double normal_quantile(double p) {
  if (!(p > 0 && p < 1)) return undefined;
  return p > 0.5 ? -math::normal_quantile(1 - p) : math::normal_quantile(p);
}

/// The difference below which two resampled values count as equal, since it may come from rounding.
double tie_width(const BootstrapDistribution& distribution) {
  return tie_tolerance * std::max(std::fabs(distribution.resampled.front()), std::fabs(distribution.resampled.back()));
}

bool has_width(const BootstrapDistribution& distribution) { return !distribution.resampled.empty() && distribution.resampled.back() - distribution.resampled.front() > tie_width(distribution); }

/// The scores that are resampled, in ascending order in each task. So a resample needs no sorting, and equal picks give equal sums.
class Pool {
 public:
  explicit Pool(const UnitScores& from) : from_(from), times_(from.sizes.size()) {
    for (const auto& runs : from.scores) {
      std::vector<std::uint32_t> order(runs.size());
      std::iota(order.begin(), order.end(), 0u);
      std::stable_sort(order.begin(), order.end(), [&](std::uint32_t i, std::uint32_t j) { return runs[i] < runs[j]; });
      ascending_.push_back(std::move(order));
    }
  }
  /// Writes to `picked` the scores of the units in `picks`.
  void take(const Picks& picks, TaskScores& picked) {
    for (std::size_t s = 0; s < times_.size(); ++s) {
      times_[s].assign(from_.sizes[s], 0);
      for (const std::uint32_t i : picks[s]) ++times_[s][i];
    }
    picked.resize(from_.scores.size());
    for (std::size_t t = 0; t < picked.size(); ++t) {
      const std::vector<std::uint32_t>& times = times_[from_.crossed() ? 0 : t];
      picked[t].clear();
      for (const std::uint32_t i : ascending_[t]) picked[t].insert(picked[t].end(), times[from_.item[t][i]], from_.scores[t][i]);
    }
  }

 private:
  const UnitScores& from_;
  std::vector<std::vector<std::uint32_t>> ascending_;  // for each task: its runs, by score
  std::vector<std::vector<std::uint32_t>> times_;      // for each stratum: how often each unit was picked
};

Picks all_picks(std::span<const std::uint32_t> sizes) {
  Picks picks(sizes.size());
  for (std::size_t t = 0; t < sizes.size(); ++t) {
    picks[t].resize(sizes[t]);
    std::iota(picks[t].begin(), picks[t].end(), 0u);
  }
  return picks;
}

/// Acceleration of each statistic by the jackknife. It leaves out one item at a time, or one group of items of a large stratum.
std::vector<double> accelerations(std::span<const std::uint32_t> sizes, std::size_t count, const Statistics& statistics) {
  Picks picks = all_picks(sizes);
  std::vector<TaskScores> jackknife(count, TaskScores(sizes.size()));
  std::vector<double> out(count);
  for (std::size_t t = 0; t < sizes.size(); ++t) {
    const std::vector<std::uint32_t> all = picks[t];
    const std::uint32_t groups = std::min(sizes[t], most_groups);
    for (std::uint32_t without = 0; without < groups; ++without) {
      picks[t] = all;
      std::erase_if(picks[t], [&](std::uint32_t i) { return i % groups == without; });
      statistics(picks, out);
      for (std::size_t k = 0; k < count; ++k) jackknife[k][t].push_back(out[k]);
    }
    picks[t] = all;
  }
  std::vector<double> result;
  for (const TaskScores& values : jackknife) result.push_back(jackknife_acceleration(values));
  return result;
}

}  // namespace

void draw_picks(std::span<const std::uint32_t> sizes, std::uint64_t seed, std::uint32_t resample, Picks& picks) {
  picks.resize(sizes.size());
  for (std::uint32_t t = 0; t < sizes.size(); ++t) {
    picks[t].resize(sizes[t]);
    for (std::uint32_t i = 0; i < sizes[t]; i += 4) {
      const Words4 words = draw(seed, Purpose::resample, resample, t, i / 4);
      for (std::uint32_t j = i; j < std::min(i + 4, sizes[t]); ++j) picks[t][j] = uniform_below(words.x[j - i], sizes[t]);
    }
  }
}

double jackknife_acceleration(const TaskScores& jackknife) {
  double cubes = 0, squares = 0;
  for (const auto& values : jackknife) {
    const auto n = static_cast<double>(values.size());
    double sum = 0, cube = 0, square = 0;
    for (const double v : values) sum += v;
    for (const double v : values) {
      const double u = (n - 1) * (sum / n - v);
      cube += u * u * u;
      square += u * u;
    }
    cubes += cube / (n * n * n);
    squares += square / (n * n);
  }
  return squares > 0 ? cubes / (6 * squares * std::sqrt(squares)) : undefined;
}

std::vector<BootstrapDistribution> bootstrap(std::span<const std::uint32_t> sizes, std::size_t count, const Statistics& statistics, int resamples,
                                    std::uint64_t seed) {
  std::vector<BootstrapDistribution> distributions(count, {undefined, {}, undefined, 0, 0});
  if (sizes.empty() || std::find(sizes.begin(), sizes.end(), 0u) != sizes.end()) return distributions;
  std::vector<double> out(count);
  Picks picks = all_picks(sizes);
  statistics(picks, out);
  for (std::size_t k = 0; k < count; ++k) {
    distributions[k].estimate = out[k];
    distributions[k].resampled.reserve(static_cast<std::size_t>(resamples));
    distributions[k].fewest = *std::min_element(sizes.begin(), sizes.end());
    distributions[k].freedom = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0}) - sizes.size();
  }
  for (int b = 0; b < resamples; ++b) {
    draw_picks(sizes, seed, static_cast<std::uint32_t>(b), picks);
    statistics(picks, out);
    for (std::size_t k = 0; k < count; ++k) distributions[k].resampled.push_back(out[k]);
  }
  for (BootstrapDistribution& distribution : distributions) {
    if (std::any_of(distribution.resampled.begin(), distribution.resampled.end(), [](double v) { return std::isnan(v); })) distribution.resampled.clear();
    std::sort(distribution.resampled.begin(), distribution.resampled.end());
  }
  if (*std::min_element(sizes.begin(), sizes.end()) > 1) {
    const std::vector<double> acceleration = accelerations(sizes, count, statistics);
    for (std::size_t k = 0; k < count; ++k) distributions[k].acceleration = acceleration[k];
  }
  return distributions;
}

std::vector<BootstrapDistribution> unit_bootstrap(const UnitScores& scores, std::span<const Metric> metrics, int resamples, std::uint64_t seed) {
  Pool pool(scores);
  TaskScores picked;
  const Statistics statistics = [&](const Picks& picks, std::span<double> out) {
    pool.take(picks, picked);
    for (std::size_t k = 0; k < metrics.size(); ++k) out[k] = metrics[k](picked);
  };
  return bootstrap(scores.sizes, metrics.size(), statistics, resamples, seed);
}

Interval percentile_interval(const BootstrapDistribution& distribution, double level) {
  if (!has_width(distribution) || !(level > 0 && level < 1)) return {undefined, undefined};
  return {quantile(distribution.resampled, (1 - level) / 2), quantile(distribution.resampled, (1 + level) / 2)};
}

Interval bca_interval(const BootstrapDistribution& distribution, double level) {
  if (!has_width(distribution) || !(level > 0 && level < 1)) return {undefined, undefined};
  const double tie = tie_width(distribution);
  const auto first = std::lower_bound(distribution.resampled.begin(), distribution.resampled.end(), distribution.estimate - tie);
  const auto last = std::upper_bound(distribution.resampled.begin(), distribution.resampled.end(), distribution.estimate + tie);
  const auto twice_below = (first - distribution.resampled.begin()) + (last - distribution.resampled.begin());
  const double bias = normal_quantile(static_cast<double>(twice_below) / (2 * static_cast<double>(distribution.resampled.size())));
  const double z = normal_quantile((1 - level) / 2);
  const auto adjusted = [&](double tail) {
    const double shifted = bias + tail, shrink = 1 - distribution.acceleration * shifted;
    if (shrink <= 0) return shifted > 0 ? 1.0 : 0.0;  // the limit of the formula as shrink falls to 0
    return math::normal_cdf(bias + shifted / shrink);
  };
  const double lower = adjusted(z), upper = adjusted(-z);
  if (std::isnan(lower) || std::isnan(upper)) return {undefined, undefined};
  return {quantile(distribution.resampled, lower), quantile(distribution.resampled, upper)};
}

DrawnQuantiles::DrawnQuantiles(std::span<const double> value, std::span<const std::uint32_t> unit, std::size_t units)
    : value_(value), unit_(unit), units_(units) {
  const double items = static_cast<double>(value.size());
  const auto blocks = static_cast<std::size_t>(std::clamp(std::sqrt(10 * items / static_cast<double>(units)), 1.0, 1000.0));
  block_ = value.size() / blocks + 1;
  count_.assign((value.size() / block_ + 1) * units, 0);
  for (std::size_t i = 0; i < value.size(); ++i) ++count_[i / block_ * units + unit[i]];
  drawn_.resize(count_.size() / units);
}

double DrawnQuantiles::item(std::span<const std::uint32_t> times, std::uint64_t place) const {
  std::size_t block = 0;
  while (place >= drawn_[block]) place -= drawn_[block++];
  std::size_t i = block * block_;
  while (place >= times[unit_[i]]) place -= times[unit_[i++]];
  return value_[i];
}

void DrawnQuantiles::at(std::span<const std::uint32_t> times, std::span<const double> q, std::span<double> out) {
  std::uint64_t total = 0;
  for (std::size_t b = 0; b < drawn_.size(); ++b) {
    const std::uint32_t* count = &count_[b * units_];
    std::uint64_t drawn = 0;
    for (std::size_t u = 0; u < units_; ++u) drawn += std::uint64_t{count[u]} * times[u];
    total += drawn_[b] = drawn;
  }
  for (std::size_t k = 0; k < q.size(); ++k) {
    if (total == 0) {
      out[k] = std::numeric_limits<double>::quiet_NaN();
      continue;
    }
    const double place = q[k] * static_cast<double>(total - 1);
    const auto below = static_cast<std::uint64_t>(place);
    const double low = item(times, below), high = below + 1 < total ? item(times, below + 1) : low;
    out[k] = low + (place - static_cast<double>(below)) * (high - low);
  }
}

}  // namespace odrpo
