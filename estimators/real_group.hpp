// One group of real rewards, by plain functions of tables made before: what RealEstimator (real.hpp) does on a host, and a lane's threads
// on a device. In double, with integrals of weights by running sums along the levels, and one exp a group.
#pragma once
#include "estimators/compat.hpp"
#include "estimators/estimator.hpp"
#include "estimators/weights.hpp"
#include "kernels/math.hpp"

namespace odrpo {

/// What a level gives that so many of a group reach.
struct LevelCount {
  LevelShares shares;   ///< per unit of weight
  double fixed, slope;  ///< level_mix = fixed + slope decay
};

/// An estimator of real rewards as data; all but the tables is a copy.
struct RealView {
  Form form;
  Weight weight;
  MedianRule median;
  int origin, levels, rollouts;
  // the convention
  Centre centre;
  Divisor divisor;
  int ddof;
  double eps;
  bool guard;
  bool lone;                 ///< a group of one gets something …
  double lone_factor;        ///< … which is its value times this
  LevelRule rule;            ///< odrpo
  double running;            ///< the median of rule `running`
  const double* along;       ///< [4][levels + 2]: step and running sum of the weights' shape, then of the shape times e^(k/2)
  const LevelCount* counts;  ///< [rollouts + 1] for groups of the usual size
};

namespace real_group {

// A group is anything with an index: an array, or a column of a block's memory.

/// A function along the levels that is constant inside each of them, by its running sums: its integrals cost O(1).
struct LevelSums {
  const double *step, *sum;  ///< of level k, and of levels 1..k
  int top;                   ///< beyond the last level it goes on with one more step
};
ODRPO_HD LevelSums shape_of(const RealView& e) { return {e.along, e.along + (e.levels + 2), e.levels}; }
ODRPO_HD LevelSums grown_of(const RealView& e) { return {e.along + 2 * (e.levels + 2), e.along + 3 * (e.levels + 2), e.levels}; }
/// Integral from low to high, 0 <= low <= high.
ODRPO_HD double between(const LevelSums& of, double low, double high) {
  int a = static_cast<int>(low), b = static_cast<int>(high);
  a = a < of.top ? a : of.top;
  b = b < of.top ? b : of.top;
  if (a == b) return of.step[a + 1] * (high - low);
  return of.step[a + 1] * (a + 1 - low) + (of.sum[b] - of.sum[a + 1]) + of.step[b + 1] * (high - b);
}

ODRPO_HD LevelCount count_of(Weight weight, const LevelRule& rule, int count, int group) {
  const double variance = level_variance(count, group), fixed = level_mix(weight, variance, 0);
  return {level_shares(rule, 1.0, count, group), fixed, level_mix(weight, variance, 1) - fixed};
}

/// A mean that is this small beside the largest reward is zero but for rounding: rewards come as floats, each with an error of 6e-8, and
/// means of up to 64 votes of 1..10 in groups of 8 are 0 or 2e-4 of the largest at least. (The definition, given doubles: 1e-12.)
inline constexpr double zero_mean = 1e-6;

/// Of a group's median: the decay of levels up to `below` is `factor` e^(k/2), above it is 1.
struct Damping {
  double below, factor;
};
ODRPO_HD Damping damping_of(const RealView& e, double median) {
  if (e.weight != Weight::gini_median || !(median > 0)) return {0, 1};
  return {static_cast<double>(static_cast<int>(median)), median_decay(median, 0)};  // e^((k - Med) / 2) = e^(-Med / 2) e^(k / 2)
}

ODRPO_HD double weight_of_gap(const RealView& e, const LevelCount& c, double low, double high, const Damping& damping) {
  if (e.weight == Weight::uniform) return high - low;
  low = low > 0 ? low : 0;
  if (!(high > low)) return 0;
  const LevelSums shape = shape_of(e);
  const double plain = c.fixed * between(shape, low, high), below = damping.below;
  if (c.slope == 0) return plain;
  double damped = 0;
  if (low < below) damped += damping.factor * between(grown_of(e), low, high < below ? high : below);
  if (high > below) damped += between(shape, low > below ? low : below, high);
  return plain + c.slope * damped;
}

/// What the weights of a group read, which is sorted.
template <class Sorted>
ODRPO_HD double median_of(const RealView& e, const Sorted& sorted, int n) {
  if (e.weight != Weight::gini_median || e.median == MedianRule::running) return e.running;
  const double lower = sorted[(n - 1) / 2], upper = sorted[n / 2];
  if (e.median == MedianRule::lower) return lower;
  if (e.median == MedianRule::upper) return upper;
  return lower + (upper - lower) * 0.5;
}

/// odrpo: advantages in place of the sorted rewards, n >= 1. Every gap gives those above it `reached` and those below it `missed`.
template <class Sorted>
ODRPO_HD void ordinal(const RealView& e, Sorted sorted, int n) {
  const Damping damping = damping_of(e, median_of(e, sorted, n));
  double base = 0, sum = 0, low = sorted[0];
  if (n == 1 && low > 0) sum = weight_of_gap(e, count_of(e.weight, e.rule, 1, 1), 0, low, damping) * e.rule.single;
  sorted[0] = sum;
  for (int i = 1; i < n; ++i) {
    const double high = sorted[i];
    if (high > low) {
      const LevelCount c = n == e.rollouts ? e.counts[n - i] : count_of(e.weight, e.rule, n - i, n);
      const double weight = weight_of_gap(e, c, low, high, damping);
      base += weight * c.shares.missed;
      sum += weight * (c.shares.reached - c.shares.missed);
    }
    sorted[i] = sum;
    low = high;
  }
  for (int i = 0; i < n; ++i) sorted[i] += base;
}

/// The rank of those who have the places first .. end - 1 of a sorted group, counted from 0: the mean of the places from 1.
ODRPO_HD double mean_rank(int first, int end) { return 0.5 * (first + end + 1); }

/// What the cardinal forms but rank-grpo take a reward as.
ODRPO_HD double value_of(const RealView& e, double reward) {
  if (e.origin == 0) reward -= 1;
  if (e.form != Form::convex_reinforce) return reward;
  return reward > 0 ? between(shape_of(e), 0, reward) : 0.0;
}

/// d[i] = v[i] - mean, taken from the first one; returns the mean.
template <class Value, class Deviation>
ODRPO_HD double deviations(const Value& v, int n, Deviation d) {
  double sum = 0;
  const double first = v[0];
  for (int i = 0; i < n; ++i) {
    const double from_first = v[i] - first;
    d[i] = from_first;
    sum += from_first;
  }
  const double offset = sum / n;
  for (int i = 0; i < n; ++i) d[i] -= offset;
  return first + offset;
}

template <class Deviation>
ODRPO_HD double sum_of_squares(const Deviation& d, int n) {
  double squares = 0;
  for (int i = 0; i < n; ++i) squares += d[i] * d[i];
  return squares;
}

/// Variance of all but member `out`, by their own mean; exactly 0 when they are equal. Deviations d, two or more others.
template <class Deviation>
ODRPO_HD double variance_without(const Deviation& d, int n, int out, int ddof) {
  const int first = out == 0 ? 1 : 0;
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i)
    if (i != out) sum += d[i] - d[first];
  const double mean = sum / (n - 1);
  for (int i = 0; i < n; ++i)
    if (i != out) squares += ((d[i] - d[first]) - mean) * ((d[i] - d[first]) - mean);
  return squares / (n - 1 - ddof);
}

/// (v - mean of the others) / (sd of the others + eps) from deviations d, undivided where that sd is 0. The others of a member that is
/// alone at an end of the group may nearly be equal: theirs is taken afresh; anyone else's holds both ends, and a difference of sums does.
template <class Deviation, class Out>
ODRPO_HD void against_others(const RealView& e, const Deviation& d, int n, Out out) {
  const int others = n - 1;
  double low = d[0], high = low;
  for (int i = 1; i < n; ++i) {
    low = d[i] < low ? d[i] : low;
    high = d[i] > high ? d[i] : high;
  }
  int lows = 0, highs = 0;
  for (int i = 0; i < n; ++i) {
    lows += d[i] == low;
    highs += d[i] == high;
  }
  const double squares = sum_of_squares(d, n);
  for (int i = 0; i < n; ++i) {
    const double own = d[i] * n / others;
    double variance = 0;
    if (others > e.ddof) {
      const bool alone = (d[i] == low && lows == 1) || (d[i] == high && highs == 1);
      variance = alone ? variance_without(d, n, i, e.ddof) : (squares - d[i] * d[i] * n / others) / (others - e.ddof);
    }
    out[i] = variance > 0 ? own / (math::sqrt(variance) + e.eps) : own;
  }
}

/// The other forms, of a group that is not all equal: values to `out`, which may be the same place; d is room for n more.
template <class Value, class Deviation, class Out>
ODRPO_HD void cardinal(const RealView& e, const Value& value, int n, Deviation d, Out out) {
  const double mean = deviations(value, n, d);
  double divisor = 1;
  switch (e.divisor) {
    case Divisor::none: divisor = e.centre == Centre::others ? (n - 1.0) / n : 1.0; break;
    case Divisor::deviation: divisor = math::sqrt(sum_of_squares(d, n) / (n - e.ddof)) + e.eps; break;
    case Divisor::others_deviation: return against_others(e, d, n, out);
    case Divisor::mean: {
      double largest = 0;
      for (int i = 0; i < n; ++i) {
        const double size = math::abs(value[i]);
        largest = size > largest ? size : largest;
      }
      if (e.guard && !(mean > zero_mean * largest)) {
        for (int i = 0; i < n; ++i) out[i] = 0.0;
        return;
      }
      divisor = mean + e.eps;
    }
  }
  const double factor = 1 / divisor;
  for (int i = 0; i < n; ++i) out[i] = d[i] * factor;
}

/// Has a group of n anything to learn from? (All equal: it has not, but that a group of one may have its reward.)
ODRPO_HD bool teaches(const RealView& e, bool all_equal, int n) { return n > 0 && (!all_equal || (n == 1 && e.lone)); }

}  // namespace real_group
}  // namespace odrpo
