// Measures agreement of judges and the shape of repeated scores: Kendall's W, row statistics, rank flips. Only this folder uses Boost.Math.
#pragma once
#include <span>
#include <vector>

namespace odrpo {

/// One judge's scores of all items. The functions below take one such list per judge, all of the same length.
using JudgeRow = std::vector<double>;

/// Kendall's coefficient of concordance. NaN where undefined.
struct KendallW {
  double w = 0;     ///< 0..1; NaN when every judge ties all items
  double chi2 = 0;  ///< N (M - 1) W
  double p = 0;     ///< probability of a larger chi2 without agreement (chi-square with df degrees of freedom)
  int df = 0;       ///< M - 1
};

/// Kendall's W of N judges who rank M items, with average ranks for ties: W = (12 S - 3 N^2 M (M+1)^2) / (N^2 M (M^2-1) - N T). S is the
/// sum of squared rank sums of items; T sums t^3 - t over each judge's groups of t tied items. Needs at least one judge and one item.
KendallW kendall_w(std::span<const JudgeRow> judges);

/// P(X > chi2) of a chi-square variable with df > 0 degrees of freedom, chi2 >= 0.
double chi_square_above(double chi2, double df);

/// Mean, standard deviation, skewness and excess kurtosis of one row; mk is its k-th central moment with divisor n. NaN where undefined.
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
  double flip_decided = 0;  ///< share among the (item pair, judge pair) where neither judge ties the two items
  double tie = 0;           ///< share of (item pair, judge) that are ties
};

/// Counts flips and ties in O(items^2 judges). For each pair of items, the number of judge pairs that disagree is (number of judges with one
/// order) x (number with the other).
RankFlip rank_flip(std::span<const JudgeRow> judges);

}  // namespace odrpo
