// Statistics of a handful of seeds, and of two arms that each chose: pure functions over spans. Undefined = NaN, never 0.
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

/// Two-sided p of Student's t test that the mean is 0. Where all values are equal and not 0 it is undefined: p of the exact sign test,
/// 2^(1 - n), instead. NaN for n < 2, and where all values are exactly 0: nothing was tested.
double t_test_p(const MeanInterval& mean);

/// One-sided p of the same test that the mean is above 0: where all values are equal, 2^-n above 0 and 1 otherwise. NaN for n < 2.
double t_test_p_above(const MeanInterval& mean);

/// The mean over strata of the mean over values, each stratum with a variance of its own: Welch's t interval with Satterthwaite's degrees
/// of freedom. n = all values; sd is pooled within strata. One stratum: mean_interval and t_test_p. NaN intervals where a stratum has fewer
/// than two values; NaN everywhere where there is no stratum, or an empty one.
struct StratifiedMean {
  MeanInterval mean;
  double degrees;  ///< of freedom of the interval
  double p;        ///< two-sided, that the mean is 0; NaN as in t_test_p
};
StratifiedMean stratified_mean(std::span<const std::vector<double>> strata, double level = 0.95);

/// Two-sided p of McNemar's exact test that two shares of the same runs are equal: of d pairs that differ, as many as min(a only, b only)
/// or fewer on one side, under Binomial(d, 1/2). NaN where no pair differs.
double mcnemar_p(std::span<const double> a, std::span<const double> b);

/// One-sided p of the same test that the first share is larger, where `only_a` pairs have the first alone and `only_b` the second alone: that
/// many or more under Binomial(only_a + only_b, 1/2). 1 where no pair differs.
double mcnemar_p_above(int only_a, int only_b);

/// Holm's adjusted p (1979): sorted ascending, p_(i) becomes the largest of min(1, (m - j + 1) p_(j)) over j <= i. NaN stays NaN and does
/// not count among the m.
std::vector<double> holm_adjusted(std::span<const double> p);

/// The two-sided interval of a normal distribution's standard deviation from the sample's (chi-square). NaN for n < 2 or a negative sd.
struct SdInterval {
  double lo, hi;
};
SdInterval sd_interval(double sd, int n, double level = 0.95);
/// The same by degrees of freedom, which may be a fraction (Satterthwaite's); NaN below or at 0.
SdInterval sd_interval_of(double sd, double freedom, double level = 0.95);

/// A normal distribution's standard deviation that the sample's exceeds as often as not: sd over the root of the median of chi-square / (n - 1). NaN for
/// n < 2.
double median_unbiased_sd(double sd, int n);

/// Quantile p (0..1) of ascending values by linear interpolation (numpy's default); NaN when empty.
double quantile(std::span<const double> sorted, double p);

/// The three quartiles; NaN when empty.
struct Quartiles {
  double q1, median, q3;
};
Quartiles quartiles(std::span<const double> values);

/// The level at which a bootstrap interval has to be taken to cover `level`, where the smallest stratum has `fewest` items and all have
/// `freedom` = items - strata degrees of freedom: 1 - 2 Phi(-sqrt(n / (n - 1)) t), t = the Student-t factor of `level`. Resampling n items
/// gives a spread that is too small by sqrt((n - 1) / n), and normal tails (Hesterberg 2015, "What Teachers Should Know About the
/// Bootstrap", expanded percentile intervals). NaN where fewest < 2.
double expanded_level(int fewest, int freedom, double level);

/// Two-sided Student-t factor: half-width of an interval = factor * sd / sqrt(n). NaN for n < 2 or a level outside (0, 1).
double student_factor(int n, double level);
/// The same by degrees of freedom, which may be a fraction (Satterthwaite's); NaN below or at 0.
double student_factor_of(double freedom, double level);
/// Two-sided p of a t of that many degrees of freedom.
double student_p(double t, double freedom);

// Comparing two arms that each chose among several (a learning rate, say), on seeds that took no part in the choice.

/// By how much one arm, at its choice, is better than the other at one of the other's choices: paired numbers, positive where it is better.
struct Lead {
  MeanInterval by;                                ///< n, mean and sd
  bool share = false;                             ///< of runs: by McNemar's test and Newcombe's interval, from the counts
  double whole = 1;                               ///< what a share of 1 is shown as
  double with_first = 1;                          ///< over seeds: its correlation with the first lead of its list
  int both = 0, ahead = 0, behind = 0, none = 0;  ///< pairs in which both, the one, the other, and neither count
};
Lead lead_of(std::span<const double> one, std::span<const double> other);
Lead share_lead_of(std::span<const double> one, std::span<const double> other, double whole);
/// The same with the arms exchanged.
Lead reversed(const Lead& lead);

/// One-sided p that the one is better. NaN for fewer than two pairs.
double better_p(const Lead& lead);

/// Two arms, each at its choice, against every choice of the other that lost no more runs than the chosen one. Where two equal arms choose
/// different rates, a test of the two choices finds the rates; this one asks whether an arm beats all that the other could have chosen
/// (an intersection-union test: Berger 1982, "Multiparameter hypothesis testing and acceptance sampling"), so that the number of choices needs no correction.
struct ChosenComparison {
  std::vector<Lead> row_leads, baseline_leads;  ///< neither is empty; the first is the lead between the two choices
};

/// One-sided p that the one arm beats every choice of the other: the largest of its leads' p. A lead of fewer than two pairs is not shown: 1.
double beats_all_p(std::span<const Lead> leads);

/// Two-sided p: twice the smaller of both arms' beats_all_p, at most 1.
double chosen_p(const ChosenComparison& compared);

/// How much better the row is than the baseline: an interval that contains the difference of the two choices and excludes 0 exactly where
/// chosen_p < alpha. Of an arm that beats all, the least that it may be better by.
struct LeadInterval {
  double lo, hi;
};
LeadInterval chosen_interval(const ChosenComparison& compared, double alpha);

/// The alpha of the interval of each of several tests that has a star exactly where Holm's p is below `level`: level / (m - k + 1) of the k-th
/// smallest p, if it has a star, level / (m - K) of those without, where K have one. NaN where p is.
std::vector<double> holm_alphas(std::span<const double> p, double level);

inline constexpr double star_level = 0.05;  ///< a corrected p below this is a star, or a cell that moved

/// One test of a family, and where its correction goes.
struct FamilyTest {
  double p;                                 ///< NaN: not tested, and not counted
  double* p_holm;
  const ChosenComparison* chosen = nullptr;  ///< two arms that each chose: `difference` gets the interval of their test
  MeanInterval* difference = nullptr;
  bool more_is_better = true;  ///< of the values behind `difference`
};
/// Corrects a family of tests by Holm's method: sets each p_holm, and each interval of arms that chose at the alpha of holm_alphas(`level`);
/// with `holm` false at `level` itself. Returns the number of tests that count.
int correct_family(std::span<const FamilyTest> tests, double level, bool holm = true);

}  // namespace odrpo
