// Computes statistics of a handful of seeds, and compares two arms that each chose a setting. Pure functions over spans; undefined = NaN,
// never 0.
#pragma once
#include <span>
#include <vector>

namespace odrpo {

/// A mean with its spread: n values, sample standard deviation (n - 1), and the two-sided Student-t interval of the mean.
/// n = 0: all NaN. n = 1: the mean is defined, sd and interval are NaN.
struct MeanInterval {
  int n = 0;
  double mean, sd, lo, hi;
};

/// The Student-t interval of the mean at `level` (0.95 = 95 %). If a value is NaN, everything is NaN.
MeanInterval mean_interval(std::span<const double> values, double level = 0.95);

/// The Student-t interval of the mean of a[i] - b[i]. Both spans have the same length (pairs, for instance by seed).
MeanInterval paired_difference(std::span<const double> a, std::span<const double> b, double level = 0.95);

/// By how many percent a[i] exceeds b[i], 100 (a[i] / b[i] - 1): the mean over pairs with its interval. A pair has no percentage unless b >
/// 0, since more than a negative number would look like less. `undefined` counts the pairs without one; the mean leaves them out.
struct PercentInterval {
  MeanInterval mean;
  int undefined = 0;
};
PercentInterval paired_percent(std::span<const double> a, std::span<const double> b, double level = 0.95);

/// A share of runs: the mean of `values`, each 0 or `whole`, with Wilson's interval. Its width is above 0 even if all values are equal.
MeanInterval share_interval(std::span<const double> values, double whole = 1, double level = 0.95);

/// The difference of two shares of the same runs (pairs), with Newcombe's interval (1998, method 10). It combines both Wilson intervals and
/// the correlation of the pairs.
MeanInterval share_difference(std::span<const double> a, std::span<const double> b, double whole = 1, double level = 0.95);

/// Two-sided p of Student's t test that the mean is 0. If all values are equal and not 0, t is undefined; p of the exact sign test, 2^(1 -
/// n), replaces it. NaN for n < 2, and if all values are exactly 0: nothing was tested.
double t_test_p(const MeanInterval& mean);

/// One-sided p of Student's t test for a mean above 0. If all values are equal, p = 2^-n for a positive value and 1 otherwise. NaN for n <
/// 2.
double t_test_p_above(const MeanInterval& mean);

/// The mean over strata of the mean over values. Each stratum has its own variance: Welch's t interval with Satterthwaite's degrees of
/// freedom. mean.n counts all values; mean.sd is pooled within strata. One stratum gives mean_interval and t_test_p. The interval is NaN if
/// a stratum has a single value. Everything is NaN if there is no stratum, or an empty one.
struct StratifiedMean {
  MeanInterval mean;
  double degrees;  ///< degrees of freedom of the interval
  double p;        ///< two-sided p that the mean is 0; NaN as in t_test_p, and where several strata have no variance
};
StratifiedMean stratified_mean(std::span<const std::vector<double>> strata, double level = 0.95);

/// Two-sided p of McNemar's exact test that two shares of the same runs are equal. Of the d pairs that differ, k count for the rarer side:
/// p = 2 P(Binomial(d, 1/2) <= k), at most 1. NaN if no pair differs.
double mcnemar_p(std::span<const double> a, std::span<const double> b);

/// One-sided p of McNemar's exact test that the first share is larger: P(Binomial(only_a + only_b, 1/2) >= only_a). `only_a` pairs count
/// for the first share alone, `only_b` pairs for the second alone. 1 if no pair differs.
double mcnemar_p_above(int only_a, int only_b);

/// Holm's adjusted p (1979) of m tests: in ascending order, p_(i) becomes the largest of min(1, (m - j + 1) p_(j)) over j <= i. NaN stays
/// NaN and does not count in m.
std::vector<double> holm_adjusted(std::span<const double> p);

/// Two-sided chi-square interval of a normal distribution's standard deviation, from the sample's `sd`. NaN for n < 2 or a negative sd.
struct SdInterval {
  double lo, hi;
};
SdInterval sd_interval(double sd, int n, double level = 0.95);
/// sd_interval() by degrees of freedom, which may be a fraction (Satterthwaite's). NaN unless freedom > 0.
SdInterval sd_interval_of(double sd, double freedom, double level = 0.95);

/// Median-unbiased estimate of a normal distribution's standard deviation: it exceeds the true one in half of all samples. It is sd /
/// sqrt(median of chi-square(n - 1) / (n - 1)). NaN for n < 2.
double median_unbiased_sd(double sd, int n);

/// Quantile p (0..1) of ascending values by linear interpolation (numpy's default); NaN when empty.
double quantile(std::span<const double> sorted, double p);

/// The three quartiles; NaN if there is no value, or if one is NaN.
struct Quartiles {
  double q1, median, q3;
};
Quartiles quartiles(std::span<const double> values);

/// The level at which to take a bootstrap interval so that it covers `level`: 1 - 2 Phi(-sqrt(n / (n - 1)) t). The smallest stratum has n =
/// `fewest` items; t is the Student-t factor of `level` for `freedom` = items - strata. Reason: resampling n items gives a spread that is
/// too small by sqrt((n - 1) / n), and normal tails (Hesterberg 2015, "What Teachers Should Know About the Bootstrap", expanded percentile
/// intervals). NaN if fewest < 2.
double expanded_level(int fewest, int freedom, double level);

/// Two-sided Student-t factor of n values: half-width of an interval = factor * sd / sqrt(n). NaN for n < 2 or a level outside (0, 1).
double student_factor(int n, double level);
/// student_factor() by degrees of freedom, which may be a fraction (Satterthwaite's). NaN unless freedom > 0.
double student_factor_of(double freedom, double level);
/// Two-sided p of the statistic `t` with `freedom` degrees of freedom.
double student_p(double t, double freedom);

// Compares two arms (a row and its baseline) that each chose a setting, such as a learning rate. The compared seeds took no part in the
// choice.

/// By how much arm one, with the setting that it chose, is better than the other arm with one setting of that arm. Paired by seed; positive
/// if arm one is better.
struct Lead {
  MeanInterval by;                                ///< number, mean and sd of the paired differences, arm one - other arm
  bool share = false;                             ///< the values are shares: McNemar's test and Newcombe's interval
  double whole = 1;                               ///< value of a run that counts (a share of 1 is shown so)
  double with_first = 1;                          ///< correlation, over seeds, with the first lead of the same list
  int both = 0, ahead = 0, behind = 0, none = 0;  ///< pairs above 0 in both arms, in arm one alone, in the other alone, in neither
};
Lead lead_of(std::span<const double> one, std::span<const double> other);
Lead share_lead_of(std::span<const double> one, std::span<const double> other, double whole);
/// Returns the same lead as seen from the other arm.
Lead reversed(const Lead& lead);

/// One-sided p that arm one of the lead is better. NaN for fewer than two pairs.
double better_p(const Lead& lead);

/// Each of two arms, with the setting that it chose, against all settings of the other that lost no more runs than that one's choice. If
/// equal arms chose different learning rates, a test of the two choices would find the effect of the rates. This test asks whether an arm
/// beats all that the other could have chosen. So the number of settings needs no correction (an intersection-union test: Berger 1982,
/// "Multiparameter hypothesis testing and acceptance sampling").
struct ChosenComparison {
  std::vector<Lead> row_leads, baseline_leads;  ///< not empty; the first lead of each compares the two chosen settings
};

/// One-sided p that an arm beats the other at every setting in `leads`: the largest p of its leads. A lead of fewer than two pairs counts as p = 1.
double beats_all_p(std::span<const Lead> leads);

/// Two-sided p that the arms are equal: twice the smaller beats_all_p() of the two arms, at most 1.
double chosen_p(const ChosenComparison& compared);

/// The interval of how much better the row is than the baseline. It contains the difference at the two chosen settings and excludes 0
/// exactly if chosen_p < alpha. If an arm beats all settings of the other, the end nearer to 0 is the least by which it may be better.
struct LeadInterval {
  double lo, hi;
};
LeadInterval chosen_interval(const ChosenComparison& compared, double alpha);

/// The alpha at which to take the interval of each test, so that it excludes 0 exactly where Holm's p is below `level`. Of m tests, the
/// k-th smallest p gets level / (m - k + 1) if it has a star. Tests without a star get level / (m - K), where K tests have one. NaN where p
/// is NaN.
std::vector<double> holm_alphas(std::span<const double> p, double level);

inline constexpr double star_level = 0.05;  ///< a corrected p below this earns a star, or shows that a cell moved (gate --science)

/// One test of a family, and where its corrected p and interval are written.
struct FamilyTest {
  double p;                                 ///< uncorrected; NaN = not tested and not counted
  double* p_holm;
  const ChosenComparison* chosen = nullptr;  ///< set if two arms each chose a setting: `difference` gets the test's interval
  MeanInterval* difference = nullptr;
  bool more_is_better = true;  ///< whether larger values behind `difference` are better
};
/// Corrects a family of tests by Holm's method. Sets every p_holm. Arms that chose a setting also get an interval, at their alpha of
/// holm_alphas(`level`), or at `level` itself if `holm` is false. Returns the number of tests whose p is not NaN.
int correct_family(std::span<const FamilyTest> tests, double level, bool holm = true);

}  // namespace odrpo
