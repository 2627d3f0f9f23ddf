// Statistics of a handful of seeds: pure functions over spans. Undefined = NaN, never 0.
#pragma once
#include <span>

namespace odrpo {

/// A mean with its spread: n values, sample standard deviation (n - 1), and the two-sided Student-t interval of the mean.
/// n = 0: all NaN. n = 1: the mean is defined, sd and interval are NaN.
struct MeanInterval {
  int n = 0;
  double mean, sd, lo, hi;
};

/// The interval of the mean at `level` (0.95 = 95 %); values must not hold NaN, or everything is NaN.
MeanInterval mean_interval(std::span<const double> values, double level = 0.95);

/// The same of the differences a[i] - b[i]; both spans have the same length (pairs, for instance by seed).
MeanInterval paired_difference(std::span<const double> a, std::span<const double> b, double level = 0.95);

/// By how much a[i] differs from b[i] in percent of it, 100 (a[i] / b[i] - 1): the interval of the mean over pairs. A pair has no
/// percentage unless b > 0 (of a negative number more would be less); such pairs are left out and counted.
struct PercentInterval {
  MeanInterval mean;
  int undefined = 0;
};
PercentInterval paired_percent(std::span<const double> a, std::span<const double> b, double level = 0.95);

/// A share of runs: values are 0 or `whole`. The mean, with Wilson's interval, which has a width where all values are equal.
MeanInterval share_interval(std::span<const double> values, double whole = 1, double level = 0.95);

/// The difference of two shares of the same runs (pairs), with Newcombe's interval (1998, method 10): both Wilson intervals, joined by
/// the correlation of the pairs.
MeanInterval share_difference(std::span<const double> a, std::span<const double> b, double whole = 1, double level = 0.95);

/// Quartiles by linear interpolation between order statistics (numpy's default); NaN when empty.
struct Quartiles {
  double q1, median, q3;
};
Quartiles quartiles(std::span<const double> values);

/// Two-sided Student-t factor: half-width of an interval = factor * sd / sqrt(n). NaN for n < 2 or a level outside (0, 1).
double student_factor(int n, double level);

}  // namespace odrpo
