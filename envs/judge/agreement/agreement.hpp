// Agreement of judges over items and the shape of repeated scores: Kendall's W, row statistics, rank flips. The only user of Boost.Math
// here.
#pragma once
#include <span>
#include <vector>

namespace odrpo {

/// A judge's scores of all items; a matrix is one row per judge, all rows of one length.
using JudgeRow = std::vector<double>;

/// Kendall's coefficient of concordance. NaN where undefined.
struct KendallW {
  double w = 0;     ///< 0..1; NaN when every judge ties all items
  double chi2 = 0;  ///< N (M - 1) W
  double p = 0;     ///< probability of a larger chi2 without agreement (chi-square with df degrees of freedom)
  int df = 0;       ///< M - 1
};

/// N judges rank M items by average ranks: W = (12 S - 3 N^2 M (M+1)^2) / (N^2 M (M^2-1) - N T), S = sum of squared rank
/// sums, T = sum of t^3 - t over each judge's groups of t tied items. At least one judge and one item.
KendallW kendall_w(std::span<const JudgeRow> judges);

/// P(X > chi2) of a chi-square variable with df > 0 degrees of freedom, chi2 >= 0.
double chi_square_above(double chi2, double df);

/// Mean, standard deviation and the biased shape statistics of one row. NaN where undefined.
struct RowStats {
  double mean = 0;
  double std = 0;     ///< divides by n - ddof; NaN when n = ddof
  double skew = 0;    ///< g1 = m3 / m2^1.5; NaN on a constant row
  double exkurt = 0;  ///< g2 = m4 / m2^2 - 3; NaN on a constant row
};

/// Statistics of a row of n scores, ddof 0 or 1; all undefined when n = 0.
RowStats row_stats(std::span<const double> row, int ddof);

/// How often two judges order two items oppositely. NaN where there is nothing to count.
struct RankFlip {
  double flip = 0;          ///< share of (item pair, judge pair) ordered strictly oppositely
  double flip_decided = 0;  ///< the same among those where neither judge ties the two items
  double tie = 0;           ///< share of (item pair, judge) that are ties
};

/// O(items^2 judges): opposite judge pairs of an item pair are (judges for one order) x (judges for the other).
RankFlip rank_flip(std::span<const JudgeRow> judges);

}  // namespace odrpo
