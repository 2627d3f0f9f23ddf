// Computes the statistics of a handful of seeds, with Boost.Math's distributions.
#include "results/stats/statistics.hpp"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/math.hpp"

namespace odrpo {
namespace {

/// Indices of the numbers in ascending order of the numbers, without indices of NaN.
std::vector<std::size_t> ascending(std::span<const double> p) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < p.size(); ++i)
    if (!std::isnan(p[i])) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return p[i] < p[j]; });
  return order;
}

}  // namespace

double quantile(std::span<const double> sorted, double p) {
  if (sorted.empty()) return undefined;
  const double place = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double student_factor(int n, double level) {
  return n < 2 ? undefined : student_factor_of(n - 1, level);
}

double student_factor_of(double freedom, double level) {
  if (!(freedom > 0) || !(level > 0 && level < 1)) return undefined;
  return boost::math::quantile(boost::math::students_t(freedom), 0.5 + level / 2);
}

double student_p(double t, double freedom) {
  if (!(freedom > 0) || std::isnan(t)) return undefined;
  return 2 * boost::math::cdf(boost::math::complement(boost::math::students_t(freedom), std::fabs(t)));
}

double expanded_level(int fewest, int freedom, double level) {
  const double n = fewest;
  if (fewest < 2) return undefined;
  const double tails = 2 * math::normal_cdf(-std::sqrt(n / (n - 1)) * student_factor(freedom + 1, level));
  return 1 - std::max(tails, 1e-15);  // with two items the level rounds to 1, and the interval reaches to the extreme resamples
}

MeanInterval mean_interval(std::span<const double> values, double level) {
  MeanInterval m{static_cast<int>(values.size()), undefined, undefined, undefined, undefined};
  if (values.empty()) return m;
  const double n = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (double v : values) sum += v;
  m.mean = sum / n;
  if (values.size() < 2) return m;
  for (double v : values) squares += (v - m.mean) * (v - m.mean);
  m.sd = std::sqrt(squares / (n - 1));
  const double half = student_factor(m.n, level) * m.sd / std::sqrt(n);
  m.lo = m.mean - half;
  m.hi = m.mean + half;
  return m;
}

MeanInterval paired_difference(std::span<const double> a, std::span<const double> b, double level) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) differences.push_back(a[i] - b[i]);
  return mean_interval(differences, level);
}

PercentInterval paired_percent(std::span<const double> a, std::span<const double> b, double level) {
  std::vector<double> percents;
  PercentInterval result;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double percent = 100 * (a[i] / b[i] - 1);
    if (!(b[i] > 0) || !std::isfinite(percent)) ++result.undefined;
    else percents.push_back(percent);
  }
  result.mean = mean_interval(percents, level);
  return result;
}

MeanInterval share_interval(std::span<const double> values, double whole, double level) {
  MeanInterval m = mean_interval(values, level);
  if (m.n == 0 || !(level > 0 && level < 1)) return m;
  const double z = boost::math::quantile(boost::math::normal(), 0.5 + level / 2), n = m.n, p = m.mean / whole;
  const double centre = (p + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n);
  m.lo = whole * (p == 0 ? 0 : centre - half);
  m.hi = whole * (p == 1 ? 1 : centre + half);
  return m;
}

MeanInterval share_difference(std::span<const double> a, std::span<const double> b, double whole, double level) {
  const std::size_t pairs = std::min(a.size(), b.size());
  MeanInterval d = paired_difference(a, b, level);
  if (pairs == 0) return d;
  const MeanInterval first = share_interval(a.first(pairs), whole, level), second = share_interval(b.first(pairs), whole, level);
  double both = 0, only_a = 0, only_b = 0, neither = 0;
  for (std::size_t i = 0; i < pairs; ++i) (a[i] > 0 ? b[i] > 0 ? both : only_a : b[i] > 0 ? only_b : neither) += 1;
  const double margins = (both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither);
  double joint = both * neither - only_a * only_b;
  if (joint > 0) joint = std::max(joint - d.n / 2.0, 0.0);  // continuity correction
  const double correlation = margins > 0 ? joint / std::sqrt(margins) : 0;
  const auto apart = [&](double x, double y) { return std::sqrt(std::max(0.0, x * x - 2 * correlation * x * y + y * y)); };
  d.lo = d.mean - apart(first.mean - first.lo, second.hi - second.mean);
  d.hi = d.mean + apart(first.hi - first.mean, second.mean - second.lo);
  return d;
}

double t_test_p(const MeanInterval& mean) {
  if (mean.n < 2 || std::isnan(mean.sd) || (mean.sd == 0 && mean.mean == 0)) return undefined;
  if (mean.sd <= 1e-13 * std::fabs(mean.mean)) return std::ldexp(1.0, 1 - mean.n);  // equal but for rounding
  const double t = std::fabs(mean.mean) / (mean.sd / std::sqrt(static_cast<double>(mean.n)));
  return student_p(t, mean.n - 1);
}

double t_test_p_above(const MeanInterval& mean) {
  if (mean.n < 2 || std::isnan(mean.sd)) return undefined;
  if (mean.sd <= 1e-13 * std::fabs(mean.mean)) return mean.mean > 0 ? std::ldexp(1.0, -mean.n) : 1;
  const double half = t_test_p(mean) / 2;
  return mean.mean > 0 ? half : 1 - half;
}

StratifiedMean stratified_mean(std::span<const std::vector<double>> strata, double level) {
  StratifiedMean result{{0, undefined, undefined, undefined, undefined}, undefined, undefined};
  if (strata.size() == 1) {
    result.mean = mean_interval(strata[0], level);
    if (result.mean.n > 1) result.degrees = result.mean.n - 1;
    result.p = t_test_p(result.mean);
    return result;
  }
  const auto count = static_cast<double>(strata.size());
  double sum = 0, squares = 0, freedom = 0, variance = 0, quarters = 0;
  for (const auto& values : strata) {
    const MeanInterval m = mean_interval(values, level);
    const double n = m.n, share = m.sd * m.sd / n / (count * count);
    result.mean.n += m.n;
    sum += m.mean;
    if (m.n > 1) squares += (n - 1) * m.sd * m.sd;
    freedom += n - 1;
    variance += share;
    quarters += share * share / (n - 1);
  }
  result.mean.mean = sum / count;
  result.mean.sd = std::sqrt(squares / freedom);
  if (std::isnan(variance) || strata.empty()) return result;
  if (variance == 0) {
    result.mean.lo = result.mean.hi = result.mean.mean;
    return result;
  }
  result.degrees = variance * variance / quarters;
  if (!(level > 0 && level < 1) || !std::isfinite(result.degrees)) return result;
  const double error = std::sqrt(variance), half = student_factor_of(result.degrees, level) * error;
  result.mean.lo = result.mean.mean - half;
  result.mean.hi = result.mean.mean + half;
  result.p = student_p(result.mean.mean / error, result.degrees);
  return result;
}

double mcnemar_p(std::span<const double> a, std::span<const double> b) {
  int only_a = 0, only_b = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    only_a += a[i] > 0 && !(b[i] > 0);
    only_b += b[i] > 0 && !(a[i] > 0);
  }
  if (only_a + only_b == 0) return undefined;
  return std::min(1.0, 2 * boost::math::cdf(boost::math::binomial(only_a + only_b, 0.5), std::min(only_a, only_b)));
}

double mcnemar_p_above(int only_a, int only_b) {
  if (only_a == 0) return 1;
  return boost::math::cdf(boost::math::complement(boost::math::binomial(only_a + only_b, 0.5), only_a - 1));
}

std::vector<double> holm_adjusted(std::span<const double> p) {
  const std::vector<std::size_t> order = ascending(p);
  std::vector<double> adjusted(p.size(), undefined);
  double largest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    largest = std::max(largest, std::min(1.0, static_cast<double>(order.size() - rank) * p[order[rank]]));
    adjusted[order[rank]] = largest;
  }
  return adjusted;
}

SdInterval sd_interval(double sd, int n, double level) { return sd_interval_of(sd, n - 1, level); }

SdInterval sd_interval_of(double sd, double freedom, double level) {
  if (!(freedom > 0) || !std::isfinite(freedom) || !(sd >= 0) || !(level > 0 && level < 1)) return {undefined, undefined};
  const boost::math::chi_squared distribution(freedom);
  const auto at_tail = [&](double p) { return sd * std::sqrt(freedom / boost::math::quantile(distribution, p)); };
  return {at_tail(0.5 + level / 2), at_tail(0.5 - level / 2)};
}

double median_unbiased_sd(double sd, int n) {
  return n < 2 ? undefined : sd * std::sqrt((n - 1) / boost::math::quantile(boost::math::chi_squared(n - 1), 0.5));
}

Quartiles quartiles(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  for (double v : sorted)
    if (std::isnan(v)) return {undefined, undefined, undefined};
  std::sort(sorted.begin(), sorted.end());
  return {quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75)};
}

// The intersection-union test of two arms that each chose among several settings.

namespace {

/// The lower end of a lead's interval, one-sided at alpha / 2. It is 0 if it and the test disagree on which side of 0 the lead lies.
double least(const Lead& lead, double alpha) {
  const double p = better_p(lead);
  if (std::isnan(p)) return -std::numeric_limits<double>::infinity();
  double lo = lead.by.mean;
  if (lead.share) {
    std::vector<double> one, other;
    for (const auto& [pairs, a, b] : {std::tuple(lead.both, 1, 1), {lead.ahead, 1, 0}, {lead.behind, 0, 1}, {lead.none, 0, 0}}) {
      one.insert(one.end(), static_cast<std::size_t>(pairs), a * lead.whole);
      other.insert(other.end(), static_cast<std::size_t>(pairs), b * lead.whole);
    }
    lo = share_difference(one, other, lead.whole, 1 - alpha).lo;
  } else {
    lo -= student_factor(lead.by.n, 1 - alpha) * lead.by.sd / std::sqrt(static_cast<double>(lead.by.n));
  }
  return p < alpha / 2 ? std::max(lo, 0.0) : std::min(lo, 0.0);  // they may disagree for equal differences, and for shares
}

double least(std::span<const Lead> leads, double alpha) {
  double lo = std::numeric_limits<double>::infinity();
  for (const Lead& lead : leads) lo = std::min(lo, least(lead, alpha));
  return lo;
}

}  // namespace

Lead lead_of(std::span<const double> one, std::span<const double> other) { return {.by = paired_difference(one, other)}; }

Lead share_lead_of(std::span<const double> one, std::span<const double> other, double whole) {
  Lead lead{.by = paired_difference(one, other), .share = true, .whole = whole};
  for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i)
    (one[i] > 0 ? other[i] > 0 ? lead.both : lead.ahead : other[i] > 0 ? lead.behind : lead.none) += 1;
  return lead;
}

Lead reversed(const Lead& lead) {
  Lead back = lead;
  back.by.mean = -lead.by.mean;
  back.by.lo = -lead.by.hi;
  back.by.hi = -lead.by.lo;
  std::swap(back.ahead, back.behind);
  return back;
}

double better_p(const Lead& lead) {
  if (lead.by.n < 2) return std::numeric_limits<double>::quiet_NaN();
  return lead.share ? mcnemar_p_above(lead.ahead, lead.behind) : t_test_p_above(lead.by);
}

double beats_all_p(std::span<const Lead> leads) {
  double largest = 0;
  for (const Lead& lead : leads) {
    const double p = better_p(lead);
    largest = std::max(largest, std::isnan(p) ? 1 : p);
  }
  return largest;
}

double chosen_p(const ChosenComparison& compared) {
  return std::min(1.0, 2 * std::min(beats_all_p(compared.row_leads), beats_all_p(compared.baseline_leads)));
}

LeadInterval chosen_interval(const ChosenComparison& compared, double alpha) {
  return {least(compared.row_leads, alpha), -least(compared.baseline_leads, alpha)};
}

std::vector<double> holm_alphas(std::span<const double> p, double level) {
  const std::vector<std::size_t> order = ascending(p);
  std::vector<double> alphas(p.size(), undefined);
  auto left = static_cast<double>(order.size());
  for (const std::size_t i : order) {
    alphas[i] = level / left;
    if (left * p[i] < level) --left;  // a star; after the first test without a star no later test has one
  }
  return alphas;
}

int correct_family(std::span<const FamilyTest> tests, double level, bool holm) {
  std::vector<double> p;
  for (const FamilyTest& test : tests) p.push_back(test.p);
  const std::vector<double> adjusted = holm_adjusted(p), alphas = holm ? holm_alphas(p, level) : std::vector<double>(p.size(), level);
  int counted = 0;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    const FamilyTest& test = tests[i];
    *test.p_holm = adjusted[i];
    if (std::isnan(test.p)) continue;
    ++counted;
    if (test.chosen == nullptr) continue;
    const LeadInterval lead = chosen_interval(*test.chosen, alphas[i]);
    test.difference->lo = test.more_is_better ? lead.lo : -lead.hi;
    test.difference->hi = test.more_is_better ? lead.hi : -lead.lo;
  }
  return counted;
}

}  // namespace odrpo
