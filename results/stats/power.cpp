// Computes power by integrating over the estimated standard error, in pieces cut where the probability of rejection changes quickly.
#include "results/stats/power.hpp"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <vector>

#include "kernels/math.hpp"
#include "results/stats/statistics.hpp"

namespace odrpo {
namespace {

constexpr int most_pairs = 1'000'000;
constexpr double known_error = 1e6;  ///< degrees of freedom above which the estimated standard error counts as the true one

double normal_cdf(double x) { return 0.5 * std::erfc(-x * std::numbers::sqrt2 / 2); }  // faster than math::normal_cdf, whose bits are not needed here

/// Returns the smallest number of pairs for which enough(pairs) is true, as it is for all larger; 0 if a million are not enough. Searches
/// from `guess` by doubling steps, then bisects.
template <class Enough>
int fewest(double guess, Enough enough) {
  if (!(guess <= most_pairs)) return 0;
  int below = std::max(2, static_cast<int>(guess));
  for (int step = 1; enough(below); step *= 2) {
    if (below == 2) return 2;
    below = std::max(2, below - step);
  }
  int above = below + 1;
  for (int step = 1; !enough(above); step *= 2) {
    if (above >= most_pairs) return 0;
    below = above;
    above = std::min(most_pairs, above + step);
  }
  while (above - below > 1) {
    const int middle = below + (above - below) / 2;
    (enough(middle) ? above : below) = middle;
  }
  return above;
}

/// How many pairs a one-sided test needs if the standard deviation is known. `distance` is the true mean in standard deviations.
double normal_pairs(double alpha, double power, double distance) {
  const double root = (math::normal_quantile(1 - alpha) + math::normal_quantile(power)) / distance;
  return std::ceil(root * root);
}

}  // namespace

double rejection_probability(const Rejection& rule, double away, double freedom) {
  const auto rejected_at = [&](double s) {
    const double limit = std::max({rule.factor * s, rule.margin - rule.within_factor * s, 0.0});
    return normal_cdf(away - limit) + normal_cdf(-away - limit);
  };
  if (freedom > known_error) return std::min(rejected_at(1), 1.0);
  const double half = freedom / 2, scale = std::log(2.0) + half * std::log(half) - std::lgamma(half);
  const auto integrand = [&](double s) {
    return std::exp(scale + (freedom - 1) * std::log(s) - half * s * s) * rejected_at(s);
  };
  const double spread = 10 / std::sqrt(2 * freedom), low = std::max(0.0, 1 - spread), high = 1 + spread;
  std::vector<double> cuts = {low, 1, high};
  const auto cut_around = [&](double s, double slope) {  // where the limit is `away`: rejection steps from 0 to 1 there, within 16 standard errors
    for (const double at : {s - 8 / slope, s, s + 8 / slope})
      if (at > low && at < high) cuts.push_back(at);
  };
  if (rule.factor > 0) cut_around(away / rule.factor, rule.factor);
  if (rule.within_factor > 0) cut_around((rule.margin - away) / rule.within_factor, rule.within_factor);
  if (const double slopes = rule.factor + rule.within_factor; slopes > 0 && rule.margin > 0) cut_around(rule.margin / slopes, slopes);
  std::sort(cuts.begin(), cuts.end());
  double sum = 0;
  for (std::size_t i = 1; i < cuts.size(); ++i)
    if (cuts[i] > cuts[i - 1]) sum += boost::math::quadrature::gauss<double, 30>::integrate(integrand, cuts[i - 1], cuts[i]);
  return std::min(sum, 1.0);
}

double detectable_mean(const Rejection& rule, double freedom, double power) {
  const auto lacking = [&](double away) { return rejection_probability(rule, away, freedom) - power; };
  if (!std::isfinite(rule.factor + rule.margin + rule.within_factor) || !(freedom > 0)) return std::nan("");
  if (lacking(0) >= 0) return 0;
  double high = std::max({1.0, rule.factor, rule.margin});
  while (lacking(high) < 0) {
    if (!(high < 1e100)) return std::nan("");
    high *= 2;
  }
  std::uintmax_t rounds = 100;
  return boost::math::tools::toms748_solve(lacking, 0.0, high, boost::math::tools::eps_tolerance<double>(40), rounds).second;
}

int pairs_needed(double difference, double sd, double alpha, double power) {
  if (!(difference > 0) || !(sd >= 0) || !std::isfinite(sd)) return 0;
  if (sd == 0) return 2;
  return fewest(normal_pairs(alpha / 2, power, difference / sd), [&](int n) {
    return rejection_probability({.factor = student_factor(n, 1 - alpha)}, difference / sd * std::sqrt(n), n - 1) >= power;
  });
}

int pairs_for_all(std::span<const AssumedMean> means, double alpha, double power) {
  double guess = 0;
  for (const AssumedMean& m : means) {
    if (!(m.mean > 0) || !(m.sd >= 0) || !std::isfinite(m.sd)) return 0;
    if (m.sd > 0) guess = std::max(guess, normal_pairs(alpha / 2, power, m.mean / m.sd));
  }
  if (means.size() == 1 || guess == 0) return means.empty() ? 0 : pairs_needed(means[0].mean, means[0].sd, alpha, power);
  const auto all_found = [&](int n) {
    const double limit = student_factor(n, 1 - alpha);
    const auto away = [&](const AssumedMean& m) { return m.mean / std::max(m.sd, 1e-9 * m.mean) * std::sqrt(n); };
    const double first = away(means[0]), found = normal_cdf(first - limit);
    // density of the first sample mean at `above` standard errors over its true mean, times the probability that the test then finds all
    // other means
    const auto others = [&](double above) {
      double product = std::exp(-0.5 * above * above) / std::sqrt(2 * std::numbers::pi);
      for (const AssumedMean& m : means.subspan(1)) {
        const double along = std::clamp(m.with_first, -1.0, 1.0), apart = std::sqrt(std::max(1 - along * along, 1e-12));
        product *= normal_cdf((away(m) - limit + along * above) / apart);
      }
      return product;
    };
    if (!(found > 0)) return false;
    double share = 0;  // probability that all means are found
    for (double at = std::max(limit - first, -9.0); at < 9; ++at) share += boost::math::quadrature::gauss<double, 15>::integrate(others, at, std::min(at + 1, 9.0));
    return rejection_probability({.factor = limit}, first, n - 1) * std::min(share / found, 1.0) >= power;
  };
  return fewest(guess, all_found);
}

int pairs_for_equivalence(double margin, double sd, double difference, double alpha, double power) {
  const double near = margin - std::abs(difference);
  if (!(near > 0) || !(sd >= 0) || !std::isfinite(sd)) return 0;
  if (sd == 0) return 2;
  return fewest(normal_pairs(alpha, power, near / sd), [&](int n) {
    const double root = std::sqrt(n) / sd;
    const Rejection outside = {.margin = margin * root, .within_factor = student_factor(n, 1 - 2 * alpha)};
    return rejection_probability(outside, difference * root, n - 1) <= 1 - power;
  });
}

namespace {

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Tests whether the mean of `residuals` lies within the margin. p comes from other - base. Equal base and other lie within it.
Equivalence of_residuals(std::span<const double> base, std::span<const double> other, std::span<const double> residuals, double margin,
                         double alpha) {
  Equivalence out;
  out.margin = margin;
  out.difference = mean_interval(residuals, 1 - 2 * alpha);
  if (std::equal(base.begin(), base.end(), other.begin())) {
    out.difference.lo = out.difference.hi = out.difference.mean;
    out.within = !base.empty();
    out.p = std::nan("");
    return out;
  }
  out.within = out.difference.lo > -margin && out.difference.hi < margin;  // false for NaN
  out.p = t_test_p(paired_difference(other, base));
  return out;
}

}  // namespace

Equivalence equivalence(std::span<const double> base, std::span<const double> other, double margin, double alpha) {
  std::vector<double> differences(base.size());
  for (std::size_t i = 0; i < base.size(); ++i) differences[i] = other[i] - base[i];
  return of_residuals(base, other, differences, margin, alpha);
}

Equivalence ratio_equivalence(std::span<const double> base, std::span<const double> other, double margin, double alpha) {
  const double mean = mean_of(base), ratio = mean_of(other) / mean;
  std::vector<double> residuals(base.size());
  for (std::size_t i = 0; i < base.size(); ++i) residuals[i] = (other[i] - ratio * base[i]) / mean + ratio - 1;
  return of_residuals(base, other, residuals, margin, alpha);
}

}  // namespace odrpo
