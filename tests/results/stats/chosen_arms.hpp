// Arms that choose among learning rates, and the test of a comparison of several by its definition (docs/tables.md, docs/statistics.md).
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "results/stats/statistics.hpp"
#include "tests/results/sample.hpp"

namespace odrpo::chosen_arms {

/// gain in percent of each learning rate's seeds; NaN = the run failed, infinite = there is none.
using Arm = std::map<double, std::vector<double>>;

/// The values of seeds first..end - 1 that there are.
inline std::vector<double> part(const std::vector<double>& gains, int first, int end) {
  std::vector<double> values;
  for (int seed = first; seed < std::min(end, static_cast<int>(gains.size())); ++seed)
    if (std::isfinite(gains[seed])) values.push_back(gains[seed]);
  return values;
}
/// Runs lost on the tuning seeds, those that are not there among them.
inline int lost(const std::vector<double>& gains, int tune_seeds) { return tune_seeds - static_cast<int>(part(gains, 0, tune_seeds).size()); }

/// Nothing where no rate has a value on the tuning seeds.
inline std::optional<double> best_rate(const Arm& arm, int tune_seeds) {
  std::optional<double> best;
  for (const auto& [lr, gains] : arm) {  // in the order of the file: lower rates first
    const auto mean = [&](double rate) { return mean_interval(part(arm.at(rate), 0, tune_seeds)).mean; };
    if (std::isnan(mean(lr))) continue;
    const int more = best ? lost(arm.at(*best), tune_seeds) - lost(gains, tune_seeds) : 1;
    if (more > 0 || (more == 0 && mean(lr) > mean(*best))) best = lr;
  }
  return best;
}

/// An arm of a comparison: 1 and -1 for a row and its baseline.
struct Term {
  double sign;
  const Arm* arm;
};

/// Of each seed from `first` on: sum sign * gain of the terms at these rates, over `count`.
inline std::vector<double> differences(const std::vector<Term>& terms, const std::vector<double>& rates, int first, double count) {
  std::vector<double> d;
  for (std::size_t seed = static_cast<std::size_t>(first); seed < 100; ++seed) {
    double sum = 0;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const std::vector<double>& gains = terms[i].arm->at(rates[i]);
      sum += seed < gains.size() ? terms[i].sign * gains[seed] / count : sample::nan;
    }
    if (std::isfinite(sum)) d.push_back(sum);
  }
  return d;
}

/// One-sided p of Student's t that the mean is above 0.
inline double above(const std::vector<double>& d) {
  const MeanInterval m = mean_interval(d);
  if (m.n < 2) return 1;
  if (m.sd < 1e-12) return m.mean > 1e-12 ? std::pow(0.5, m.n) : 1;
  const double both = student_p(m.mean / m.sd * std::sqrt(m.n), m.n - 1);
  return m.mean > 0 ? both / 2 : 1 - both / 2;
}

struct Tested {
  double p, lo, hi;
};
/// The largest p, and the least lower bound, of terms with a plus at their choice and the others at every combination, from term `at` on.
inline void least_favourable(const std::vector<Term>& terms, std::vector<double>& rates, std::size_t at, int tune_seeds, double count,
                      double alpha, double& p, double& lo) {
  if (at == terms.size()) {
    const auto d = differences(terms, rates, tune_seeds, count);
    const MeanInterval m = mean_interval(d);
    p = std::max(p, above(d));
    lo = std::min(lo, m.n < 2 ? -1e300 : m.mean - student_factor(m.n, 1 - alpha) * m.sd / std::sqrt(m.n));
    return;
  }
  const auto& [sign, arm] = terms[at];
  const double chosen = *best_rate(*arm, tune_seeds);
  for (const auto& [lr, gains] : *arm) {
    if (sign > 0 ? lr != chosen : lost(gains, tune_seeds) > lost(arm->at(chosen), tune_seeds)) continue;
    rates[at] = lr;
    least_favourable(terms, rates, at + 1, tune_seeds, count, alpha, p, lo);
  }
}
/// p and the interval at alpha: formula by formula as docs/tables.md and docs/statistics.md have them. `count`: of the tasks.
inline Tested tested(std::vector<Term> terms, int tune_seeds, double alpha, double count = 1) {
  double p[2] = {0, 0}, bound[2] = {1e300, 1e300};
  std::vector<double> rates(terms.size());
  for (int side = 0; side < 2; ++side) {
    least_favourable(terms, rates, 0, tune_seeds, count, alpha, p[side], bound[side]);
    for (Term& term : terms) term.sign = -term.sign;
  }
  return {std::min(1.0, 2 * std::min(p[0], p[1])), bound[0], -bound[1]};
}

/// A random arm: a peak at some rate, failures, rates that were not tried, and seeds that are not there.
inline Arm random_arm(std::mt19937& random, int seeds, double height, double failures) {
  std::normal_distribution<double> normal;
  const double shift = random() % 2 == 0 ? 0 : normal(random), slope = static_cast<double>(random() % 3);
  Arm made;
  for (const double lr : {0.03, 0.1, 0.3, 1.0, 3.0}) {
    if (random() % 8 == 0 && lr != 0.3) continue;
    for (int s = 0; s < seeds; ++s) {
      const double gain = 50 + height - slope * std::fabs(std::log(lr / 0.3) - shift) + normal(random);
      made[lr].push_back(static_cast<double>(random() % 1000) < 1000 * failures ? sample::nan : gain);
    }
    if (random() % 6 == 0) made[lr][random() % made[lr].size()] = std::numeric_limits<double>::infinity();
  }
  return made;
}

}  // namespace odrpo::chosen_arms
