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

/// Items drawn from each stratum: picks[t][i] is an item's number in stratum t.
using Picks = std::vector<std::vector<std::uint32_t>>;

/// Resample `resample` (0, 1, …): as many items as each stratum has, drawn with replacement, independently between strata. Item i of
/// stratum t is floor(w sizes[t] / 2^32). Here w is word i % 4 of the Philox block (purpose, resample, t, i / 4) under the key `seed`.
/// Equal sizes give equal picks, so cells of one table share them. `picks` is overwritten.
void draw_picks(std::span<const std::uint32_t> sizes, std::uint64_t seed, std::uint32_t resample, Picks& picks);

/// Writes statistics of the items in `picks` to `out`. Called for all items, for every resample, and for every sample that lacks one item
/// (jackknife).
using Statistics = std::function<void(const Picks& picks, std::span<double> out)>;

/// The bootstrap of one statistic.
struct BootstrapDistribution {
  double estimate;                ///< of all items
  std::vector<double> resampled;  ///< of each resample, ascending; empty where one of them is NaN
  double acceleration;            ///< of BCa; NaN where leaving out any item changes nothing, and where a stratum has one item
  std::uint32_t fewest = 0;       ///< items of the smallest stratum
  std::uint64_t freedom = 0;      ///< items - strata
};

/// Bootstraps `count` statistics of strata of these sizes. An empty stratum gives NaN everywhere. `resamples` >= 1. The jackknife leaves
/// out one item; in a stratum of more than 1000 items, one of 1000 groups (the same acceleration up to its noise).
std::vector<BootstrapDistribution> bootstrap(std::span<const std::uint32_t> sizes, std::size_t count, const Statistics& statistics, int resamples,
                                    std::uint64_t seed);

/// Bootstraps functions of scores by resampling units; each unit brings its runs in all tasks. Where no unit has runs in two tasks, units
/// are resampled within each task (rliable's StratifiedBootstrap). Of paired differences it is the paired bootstrap: a resampled unit
/// serves both of its cells. A resample in which a task has no run leaves the statistic without an interval.
using Metric = std::function<double(const TaskScores&)>;
std::vector<BootstrapDistribution> unit_bootstrap(const UnitScores& scores, std::span<const Metric> metrics, int resamples, std::uint64_t seed);

/// Jackknife acceleration of several independent samples; jackknife[t][i] = the statistic without item i of stratum t.
/// With U = (n_t - 1) (mean_i jackknife[t] - jackknife[t][i]), a = sum_t sum_i U^3 / n_t^3 / (6 (sum_t sum_i U^2 / n_t^2)^1.5).
double jackknife_acceleration(const TaskScores& jackknife);

/// A two-sided interval; both NaN where it is not defined.
struct Interval {
  double lo, hi;
};

/// Quantiles (1 - level) / 2 and (1 + level) / 2 of the resampled values, linearly interpolated. NaN where all of them are equal.
Interval percentile_interval(const BootstrapDistribution& distribution, double level = 0.95);

/// Bias-corrected and accelerated interval. Resampled values that equal the estimate, up to rounding, count as half below it, as in
/// scipy (which compares bits). NaN where all resampled values are equal, or all lie on one side of the estimate, or the acceleration is
/// NaN.
Interval bca_interval(const BootstrapDistribution& distribution, double level = 0.95);

// Quantiles of a long list in every resample. The units of the bootstrap are groups of the list's items.

/// Items in ascending order of value, each belonging to a unit. When unit u is drawn times[u] times, so is each of its items.
class DrawnQuantiles {
 public:
  /// `value` ascending, without NaN; `unit[i]` < units, at least one. Both lists must outlive this.
  DrawnQuantiles(std::span<const double> value, std::span<const std::uint32_t> unit, std::size_t units);

  /// Quantiles `q` (each 0..1) of what is drawn, as quantile() (results/stats/statistics.hpp) of the repeated items. NaN where nothing is drawn.
  /// Looks at a few blocks of a long list, not at all of it.
  void at(std::span<const std::uint32_t> times, std::span<const double> q, std::span<double> out);

 private:
  double item(std::span<const std::uint32_t> times, std::uint64_t place) const;
  std::span<const double> value_;
  std::span<const std::uint32_t> unit_;
  std::size_t units_, block_;         // items in a block
  std::vector<std::uint32_t> count_;  // [blocks][units] items
  std::vector<std::uint64_t> drawn_;  // [blocks] of the present resample
};

}  // namespace odrpo
