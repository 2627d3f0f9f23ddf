// What paired t tests find, and how many pairs they need: probabilities over the distribution of a normal sample's mean and standard deviation.
#pragma once
#include <span>

#include "results/stats/statistics.hpp"

namespace odrpo {

/// The means that a test rejects: |mean| > max(factor s, margin - within_factor s), in true standard errors of the mean; s is the estimated
/// error over the true one. A t test has its Student factor alone; one that must leave a margin too has all three; two one-sided tests that
/// the mean lies within the margin are what remains at factor 0.
struct Rejection {
  double factor = 0, margin = 0, within_factor = 0;
};

/// The probability that a sample whose true mean is `away` is rejected; `freedom` > 0 of the estimated error, which may be a fraction.
double rejection_probability(const Rejection& rule, double away, double freedom);

/// The smallest `away` that is rejected with at least probability `power`, above that at 0; NaN where a number of the rule is none or freedom is 0.
double detectable_mean(const Rejection& rule, double freedom, double power);

/// The fewest pairs with which a two-sided paired t test at `alpha` finds a true mean difference with probability `power`, when the
/// differences have standard deviation sd. 0 where a million pairs are not enough, or sd is NaN or the difference not above 0.
int pairs_needed(double difference, double sd, double alpha = 0.05, double power = 0.8);

/// A mean that a test must find, with the standard deviation of its pairs and their correlation with those of the first mean.
struct AssumedMean {
  double mean, sd, with_first = 1;
};

/// The fewest pairs with which one-sided paired t tests at alpha / 2 all find their means with probability `power`, the star of two arms that chose
/// (ChosenComparison of statistics.hpp). Given the first, the others are taken as independent; what they share beside makes the truth a little less. 0 where a
/// million pairs are not enough, a mean is not above 0, or a standard deviation is NaN.
int pairs_for_all(std::span<const AssumedMean> means, double alpha = 0.05, double power = 0.8);

/// The fewest pairs with which two one-sided tests at alpha both say that a mean difference lies within -margin .. margin, with at least
/// probability `power`, where the true one is `difference` and differences have standard deviation sd. 2 where sd is 0; 0 where a million pairs
/// are not enough, |difference| >= margin, or sd is NaN.
int pairs_for_equivalence(double margin, double sd, double difference = 0, double alpha = 0.05, double power = 0.8);

// Do paired values stay within a margin of each other? Two one-sided t tests (Schuirmann 1987), and Student's test that they differ at all.

/// Of other - base, or of mean(other) / mean(base) - 1; in the unit of the margin.
struct Equivalence {
  MeanInterval difference;  ///< n pairs; the two-sided interval at 1 - 2 alpha, which lies within the margin where both tests say so
  double margin = 0;
  bool within = false;  ///< both one-sided tests at alpha say that the mean lies within -margin .. margin; also where all pairs are equal
  double p = 0;         ///< two-sided t test that the mean is 0; NaN where all pairs are equal, or there are fewer than two
};

/// Spans of one length, no NaN. Fewer than two pairs that are not equal: no interval, not within.
Equivalence equivalence(std::span<const double> base, std::span<const double> other, double margin, double alpha = 0.05);

/// The same of a ratio of means; base has a mean above 0. The interval is that of the residuals other - ratio base (delta method); p is
/// that of the paired differences.
Equivalence ratio_equivalence(std::span<const double> base, std::span<const double> other, double margin, double alpha = 0.05);

}  // namespace odrpo
