// Do paired values stay within a margin of each other? Two one-sided t tests (Schuirmann 1987), and Student's test that they differ at all.
#pragma once
#include <span>

#include "results/stats/statistics.hpp"

namespace odrpo {

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
