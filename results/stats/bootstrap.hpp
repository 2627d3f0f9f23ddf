// Computes bootstrap intervals from counter-based draws. One seed gives one interval on every machine, in any order and on any thread.
// Sources: Efron and Tibshirani 1993, "An Introduction to the Bootstrap", chapters 13 and 14; scipy.stats.bootstrap; rliable.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "results/stats/aggregate_metrics.hpp"

namespace odrpo {

/// The items that a resample draws: picks[t][i] is the i-th item drawn from stratum t, by its number in that stratum.
using Picks = std::vector<std::vector<std::uint32_t>>;

/// Draws resample number `resample` (0, 1, …) into `picks`: from each stratum as many items as it has, with replacement, independently. The
/// i-th pick of stratum t is floor(w sizes[t] / 2^32). Here w is word i % 4 that Philox makes of the counter (purpose, resample, t, i / 4)
/// and the random key `seed`. Equal sizes give equal picks, so the cells of a table that have equally many seeds share their resamples.
void draw_picks(std::span<const std::uint32_t> sizes, std::uint64_t seed, std::uint32_t resample, Picks& picks);

/// A function that writes statistics of the items in `picks` to `out`. bootstrap() calls it for the full sample, for every resample, and
/// for every jackknife sample.
using Statistics = std::function<void(const Picks& picks, std::span<double> out)>;

/// The bootstrap distribution of one statistic.
struct BootstrapDistribution {
  double estimate;                ///< the statistic of the full sample
  std::vector<double> resampled;  ///< the statistic of each resample, ascending; empty if one of them is NaN
  double acceleration;            ///< acceleration of BCa; NaN if no left-out item changes the statistic, or if a stratum has one item
  std::uint32_t fewest = 0;       ///< number of items in the smallest stratum
  std::uint64_t freedom = 0;      ///< number of items - number of strata
};

/// Bootstraps `count` statistics over strata of the given sizes. An empty stratum gives NaN everywhere. `resamples` >= 1. The jackknife
/// leaves out one item at a time. In a stratum of more than 1000 items it leaves out one of 1000 groups; the acceleration is the same up to
/// noise.
std::vector<BootstrapDistribution> bootstrap(std::span<const std::uint32_t> sizes, std::size_t count, const Statistics& statistics, int resamples,
                                    std::uint64_t seed);

/// Bootstraps functions of scores by resampling units: a drawn unit brings its runs in all tasks. If no unit has runs in two tasks, units
/// are resampled within each task (rliable's StratifiedBootstrap). Applied to paired differences this is the paired bootstrap: a drawn unit
/// serves both cells. If a resample leaves a task without runs, the statistic has no interval.
using Metric = std::function<double(const TaskScores&)>;
std::vector<BootstrapDistribution> unit_bootstrap(const UnitScores& scores, std::span<const Metric> metrics, int resamples, std::uint64_t seed);

/// Acceleration of BCa for several independent strata. jackknife[t][i] is the statistic without item i of stratum t, which has n_t items.
/// With U = (n_t - 1) (mean_i jackknife[t] - jackknife[t][i]), a = sum_t sum_i U^3 / n_t^3 / (6 (sum_t sum_i U^2 / n_t^2)^1.5).
double jackknife_acceleration(const TaskScores& jackknife);

/// A two-sided interval; both ends are NaN where it is undefined.
struct Interval {
  double lo, hi;
};

/// Percentile interval: quantiles (1 - level) / 2 and (1 + level) / 2 of the resampled values, interpolated. NaN if all values are equal.
Interval percentile_interval(const BootstrapDistribution& distribution, double level = 0.95);

/// Bias-corrected and accelerated (BCa) interval. A resampled value that equals the estimate, up to rounding, counts as half below it.
/// (scipy counts so too, but compares bits.) NaN if all resampled values are equal, if all lie on one side of the estimate, or if the
/// acceleration is NaN.
Interval bca_interval(const BootstrapDistribution& distribution, double level = 0.95);

// Quantiles of a long list in every resample, without sorting it again. Each unit that the bootstrap draws is a group of the list's items.

/// A list of values in ascending order; each item belongs to a unit. In a resample that draws unit u times[u] times, each of its items
/// counts times[u] times.
class DrawnQuantiles {
 public:
  /// `value` ascends, without NaN. `unit[i]` < `units` is the unit of item i; `units` >= 1. Both lists must outlive this object.
  DrawnQuantiles(std::span<const double> value, std::span<const std::uint32_t> unit, std::size_t units);

  /// Writes to `out` the quantiles `q` (each 0..1) of the repeated items, as quantile() of results/stats/statistics.hpp defines them. NaN
  /// if nothing is drawn. Of a long list it scans a few parts only.
  void at(std::span<const std::uint32_t> times, std::span<const double> q, std::span<double> out);

 private:
  double item(std::span<const std::uint32_t> times, std::uint64_t place) const;
  std::span<const double> value_;
  std::span<const std::uint32_t> unit_;
  std::size_t units_, block_;         // block_: items in each part of the list
  std::vector<std::uint32_t> count_;  // [parts of the list][units] number of items
  std::vector<std::uint64_t> drawn_;  // [parts of the list] number of drawn items, in the current resample
};

}  // namespace odrpo
