// Computes which mean differences paired t tests detect, and how many pairs they need. Probabilities are over a normal sample's mean and
// standard deviation.
#pragma once
#include <span>

#include "results/stats/statistics.hpp"

namespace odrpo {

/// A test of a mean. Let s = estimated standard error / true one, and let mean and margin be in true standard errors. It rejects if |mean|
/// > max(factor s, margin - within_factor s). A plain t test sets `factor` alone, to its Student factor. All three are set if two one-sided
/// tests must also fail to place the mean within the margin. With factor 0, only this second condition is left.
struct Rejection {
  double factor = 0, margin = 0, within_factor = 0;
};

/// The probability that `rule` rejects a sample whose true mean is `away`. `freedom` > 0: degrees of freedom of the estimated standard
/// error, perhaps a fraction.
double rejection_probability(const Rejection& rule, double away, double freedom);

/// The smallest true mean that `rule` rejects with probability `power` or more; 0 if it rejects a true mean of 0 that often. NaN if `rule`
/// is not finite or freedom not above 0.
double detectable_mean(const Rejection& rule, double freedom, double power);

/// The fewest pairs with which a two-sided paired t test at `alpha` finds a true mean difference with probability `power`. `sd` is the
/// standard deviation of the differences. Returns 0 if a million pairs are not enough, sd is NaN, or the difference is not above 0.
int pairs_needed(double difference, double sd, double alpha = 0.05, double power = 0.8);

/// A mean that a test must find, the standard deviation of its pairs, and `with_first`: their correlation with the pairs of the first mean.
struct AssumedMean {
  double mean, sd, with_first = 1;
};

/// The fewest pairs with which one-sided paired t tests at alpha / 2 find all of `means`, with probability `power`. The star of two cells
/// that each chose a setting comes from this test (ChosenComparison in statistics.hpp). Given the first mean, the other means count as
/// independent. Further correlation makes the true number a little smaller. Returns 0 if a million pairs are not enough, a mean is not
/// above 0, or a standard deviation is NaN.
int pairs_for_all(std::span<const AssumedMean> means, double alpha = 0.05, double power = 0.8);

/// The fewest pairs with which two one-sided tests at alpha place a mean difference within -margin .. margin, with probability `power`.
/// `difference` is the true mean, `sd` the standard deviation of the differences. Returns 2 if sd is 0. Returns 0 if a million pairs are
/// not enough, |difference| >= margin, or sd is NaN.
int pairs_for_equivalence(double margin, double sd, double difference = 0, double alpha = 0.05, double power = 0.8);

// Tests whether paired values stay within a margin of each other: two one-sided t tests (Schuirmann 1987), and Student's test of any difference.

/// Result of the tests of other - base, or of mean(other) / mean(base) - 1; in the unit of the margin.
struct Equivalence {
  MeanInterval difference;  ///< of n pairs; interval at level 1 - 2 alpha: inside +-margin exactly if both one-sided tests say so
  double margin = 0;
  bool within = false;  ///< both one-sided tests at alpha say that the mean lies within -margin .. margin; also where all pairs are equal
  double p = 0;         ///< two-sided t test that the mean is 0; NaN if all pairs are equal, or there are fewer than two
};

/// Tests the mean of other - base. Both spans have one length and no NaN. A single pair that differs has no interval and is not within.
Equivalence equivalence(std::span<const double> base, std::span<const double> other, double margin, double alpha = 0.05);

/// Tests mean(other) / mean(base) - 1; base has a mean above 0. The interval is that of the residuals other - ratio base (delta method).
/// The p value is that of the paired differences.
Equivalence ratio_equivalence(std::span<const double> base, std::span<const double> other, double margin, double alpha = 0.05);

}  // namespace odrpo
