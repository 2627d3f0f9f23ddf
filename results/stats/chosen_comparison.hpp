// Comparing two arms that each chose among several (a learning rate, say), on seeds that took no part in the choice.
#pragma once
#include <span>
#include <vector>

#include "results/stats/statistics.hpp"

namespace odrpo {

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

}  // namespace odrpo
