// Computes what paired t tests find and how many pairs they need. Probabilities are over a normal sample's mean and standard deviation.
#pragma once
#include <span>

#include "results/stats/statistics.hpp"

namespace odrpo {

/// A test rejects |mean| > max(factor s, margin - within_factor s), in true standard errors of the mean; s = estimated error / true error.
/// A t test has its Student factor alone. A t test that must also leave a margin has all three. At factor 0 the rule rejects what two
/// one-sided tests do not place within the margin.
struct Rejection {
  double factor = 0, margin = 0, within_factor = 0;
};

/// The probability that a sample with true mean `away` is rejected. `freedom` > 0 of the estimated error may be a fraction.
double rejection_probability(const Rejection& rule, double away, double freedom);

/// The smallest `away` that is rejected with at least probability `power`; 0 if 0 is. NaN where the rule is not finite or freedom not above 0.
double detectable_mean(const Rejection& rule, double freedom, double power);

/// The fewest pairs with which a two-sided paired t test at `alpha` finds a true mean difference with probability `power`. `sd` is that of
/// the differences. 0 where a million pairs are not enough, sd is NaN, or the difference is not above 0.
int pairs_needed(double difference, double sd, double alpha = 0.05, double power = 0.8);

/// A mean that a test must find, with the standard deviation of its pairs and their correlation with those of the first mean.
struct AssumedMean {
  double mean, sd, with_first = 1;
};

/// The fewest pairs with which one-sided paired t tests at alpha / 2 all find their means with probability `power`. This is the star's test
/// of two arms that chose (ChosenComparison of statistics.hpp). Given the first mean, the others count as independent; what else they share
/// makes the true number a little smaller. Returns 0 where a million pairs are not enough, a mean is not above 0, or a standard deviation
/// is NaN.
int pairs_for_all(std::span<const AssumedMean> means, double alpha = 0.05, double power = 0.8);

/// The fewest pairs with which two one-sided tests at alpha place a mean difference within -margin .. margin with probability `power`.
/// `difference` is the true mean, `sd` the standard deviation of differences. 2 where sd is 0; 0 where a million pairs are not enough,
/// |difference| >= margin, or sd is NaN.
int pairs_for_equivalence(double margin, double sd, double difference = 0, double alpha = 0.05, double power = 0.8);

// Tests whether paired values stay within a margin of each other: two one-sided t tests (Schuirmann 1987), and Student's test of any difference.

/// Of other - base, or of mean(other) / mean(base) - 1; in the unit of the margin.
struct Equivalence {
  MeanInterval difference;  ///< n pairs; the two-sided interval at 1 - 2 alpha, which lies within the margin where both tests say so
  double margin = 0;
  bool within = false;  ///< both one-sided tests at alpha say that the mean lies within -margin .. margin; also where all pairs are equal
  double p = 0;         ///< two-sided t test that the mean is 0; NaN where all pairs are equal, or there are fewer than two
};

/// Spans of one length, no NaN. A single pair that differs has no interval and is not within.
Equivalence equivalence(std::span<const double> base, std::span<const double> other, double margin, double alpha = 0.05);

/// The same of a ratio of means; base has a mean above 0. The interval is that of the residuals other - ratio base (delta method); p is
/// that of the paired differences.
Equivalence ratio_equivalence(std::span<const double> base, std::span<const double> other, double margin, double alpha = 0.05);

}  // namespace odrpo
