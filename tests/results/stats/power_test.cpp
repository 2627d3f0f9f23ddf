// The power of paired t tests: against its definition, published tables and simulation; the pairs that a power needs.
#include "results/stats/power.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/catch.hpp"
#include "tests/results/sample.hpp"
#include "tests/results/stats/sample_sd.hpp"

using namespace odrpo;

namespace {

/// From its definition, by Simpson's rule.
double rejected(const Rejection& rule, double away, int freedom) {
  return over_sample_sd(freedom, [&](double s) {
    const double limit = std::max({rule.factor * s, rule.margin - rule.within_factor * s, 0.0});
    return normal_below(away - limit) + normal_below(-away - limit);
  });
}

}  // namespace

TEST_CASE("power: the probability that a mean is rejected, from its definition") {
  const Rejection rules[] = {{.factor = 2.5}, {.factor = 12}, {.margin = 4, .within_factor = 2}, {.factor = 3, .margin = 6, .within_factor = 1.8}};
  for (const Rejection& rule : rules)
    for (const int freedom : {2, 4, 19, 150})
      for (const double away : {0.0, 0.7, 3.0, 5.0, 40.0}) {
        CAPTURE(rule.factor, rule.margin, rule.within_factor, freedom, away);
        CHECK(rejection_probability(rule, away, freedom) == Approx(rejected(rule, away, freedom)).margin(2e-5));
      }
  CHECK(rejection_probability({.factor = 12.706204736}, 0, 1) == Approx(0.05).epsilon(1e-8));
  CHECK(rejection_probability({.factor = 2.262157163}, 0, 9) == Approx(0.05).epsilon(1e-8));
  CHECK(rejection_probability({.factor = 63.656741}, 0, 1) == Approx(0.01).epsilon(1e-6));
}

TEST_CASE("power: a mean that is detected with the probability that is asked for") {
  for (const Rejection& rule : {Rejection{.factor = 3}, {.factor = 3, .margin = 9, .within_factor = 1.8}, {.factor = 1000}})
    for (const int freedom : {2, 4, 19})
      for (const double power : {0.8, 0.95}) {
        const double found = detectable_mean(rule, freedom, power);
        CAPTURE(rule.factor, freedom, power, found);
        CHECK(rejection_probability(rule, found, freedom) == Approx(power).margin(1e-9));
      }
  CHECK(detectable_mean({.margin = 1, .within_factor = 2}, 4, 0.3) == 0);  // too few pairs to stay within the margin
  for (const double freedom : {1e5, 9e5, 1e7, 1e15, std::numeric_limits<double>::infinity()})
    CHECK(detectable_mean({.factor = 1.959963984540}, freedom, 0.8) == Approx(1.959963984540 + 0.841621233573).margin(1e-4));
  CHECK(std::isnan(detectable_mean({.factor = std::nan("")}, 4, 0.8)));
  CHECK(std::isnan(detectable_mean({.factor = 2}, 0, 0.8)));
}

TEST_CASE("pairs needed, against published tables of the one-sample t test (power .8, two-sided .05)") {
  CHECK(pairs_needed(0.2, 1) == 199);
  CHECK(pairs_needed(0.5, 1) == 34);
  CHECK(pairs_needed(0.8, 1) == 15);
  CHECK(pairs_needed(1, 2) == 34);
  CHECK(pairs_needed(0.5, 1, 0.01) == 51);
  CHECK(pairs_needed(0.5, 1, 0.05, 0.95) == 54);
  CHECK(pairs_needed(1, 0) == 2);
  CHECK(pairs_needed(1e-4, 1) == 0);  // more than a million
  CHECK(pairs_needed(0, 1) == 0);
  CHECK(pairs_needed(-1, 1) == 0);
  CHECK(pairs_needed(1, sample::nan) == 0);
  for (const double sd : {1e-12, 1e-6, 1e-3}) CHECK(pairs_needed(1, sd) >= 2);
  CHECK(pairs_needed(1, 1e-3, 0.005) == 2);  // two pairs: the limit is 127, the difference 1414 standard errors
  CHECK(pairs_needed(1, 1e-3, 1e-6) == 3);   // the limit of two pairs is 636619, of three 1000
}

TEST_CASE("pairs needed have the power that is asked for, and one pair less has not") {
  std::mt19937_64 random(7);
  INFO("seed 7");
  std::normal_distribution<double> normal;
  for (const double difference : {0.6, 1.1}) {
    const int n = pairs_needed(difference, 1);
    const auto power = [&](int pairs) {
      int found = 0;
      const int rounds = 40'000;
      std::vector<double> values(static_cast<std::size_t>(pairs));
      for (int round = 0; round < rounds; ++round) {
        for (double& v : values) v = difference + normal(random);
        const MeanInterval m = mean_interval(values);
        found += m.lo > 0 || m.hi < 0;
      }
      return static_cast<double>(found) / rounds;
    };
    INFO("difference " << difference << ", " << n << " pairs");
    CHECK(power(n) > 0.8 - 4 * 0.002);
    CHECK(power(n - 1) < 0.8 + 4 * 0.002);
  }
}

TEST_CASE("pairs that find all means have the power that is asked for, and few of them are too many", "[unsanitized]") {
  const unsigned seed = 9;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  // a row against four choices of a baseline: `shared` of a lead's variance is the row's and what the choices have in common
  for (const double shared : {0.0, 0.5, 0.9})
    for (const auto& ahead : {std::vector<double>{0.7}, {0.7, 0.7, 0.7, 0.7}, {0.7, 1, 0.6}, {0.5, 2, 3, 4}}) {
      std::vector<AssumedMean> means;
      for (const double mean : ahead) means.push_back({mean, 1, means.empty() ? 1 : shared});
      const int n = pairs_for_all(means);
      CAPTURE(shared, ahead.size(), ahead.back(), n);
      REQUIRE(n > 2);
      if (ahead.size() == 1 || ahead.back() == 4) CHECK(n == pairs_needed(ahead[0], 1));  // what is far ahead asks for nothing
      const auto power = [&](int pairs) {
        int found = 0;
        const int tries = 4'000;
        std::vector<std::vector<double>> leads(ahead.size(), std::vector<double>(static_cast<std::size_t>(pairs)));
        for (int t = 0; t < tries; ++t) {
          for (std::size_t i = 0; i < static_cast<std::size_t>(pairs); ++i) {
            const double common = std::sqrt(shared) * normal(random);
            for (std::size_t j = 0; j < ahead.size(); ++j) leads[j][i] = ahead[j] + common + std::sqrt(1 - shared) * normal(random);
          }
          found += std::all_of(leads.begin(), leads.end(), [](const std::vector<double>& values) { return mean_interval(values).lo > 0; });
        }
        return static_cast<double>(found) / tries;
      };
      CHECK(power(n) > 0.8 - 4 * 0.0063);
      CHECK(power(n - 1) < 0.8 + (ahead.size() > 1 ? 0.05 : 0) + 4 * 0.0063);
    }
  CHECK(pairs_for_all(std::vector<AssumedMean>{{1, 1, 1}, {0, 1, 0}}) == 0);  // another choice is as good as the row
  CHECK(pairs_for_all(std::vector<AssumedMean>{{1, 1, 1}, {1, sample::nan, 0}}) == 0);
  CHECK(pairs_for_all({}) == 0);
}

TEST_CASE("pairs for equivalence: four of five samples pass, with fewer pairs fewer, and less than four of five with one pair less") {
  const unsigned seed = 8;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (const auto& setting : {std::pair{0.5, 0.05}, {0.5, -0.05}, {0.5, 0.0}, {0.2, 0.03}, {1.0, 0.1}, {2.0, -0.2}, {2.5, 0.0}, {0.5, 0.3}}) {
    const double margin = setting.first, difference = setting.second;
    const auto pass = [&](int n) {
      return 1 - rejected({.margin = margin * std::sqrt(n), .within_factor = student_factor(n, 0.9)}, difference * std::sqrt(n), n - 1);
    };
    const int n = pairs_for_equivalence(margin, 1, difference);
    CAPTURE(margin, difference, n);
    CHECK(pass(n) >= 0.8);
    CHECK(pass(n - 1) < 0.8);
    if (n > 100) continue;
    const int trials = 4000;
    int passed = 0;
    const std::vector<double> base(static_cast<std::size_t>(n));
    std::vector<double> other(base.size());
    for (int trial = 0; trial < trials; ++trial) {
      for (double& x : other) x = difference + normal(random);
      passed += equivalence(base, other, margin).within;
    }
    CHECK(passed > (pass(n) - 4 * std::sqrt(0.16 / trials)) * trials);
    CHECK(passed < (pass(n) + 4 * std::sqrt(0.16 / trials)) * trials);
  }
  CHECK(pairs_for_equivalence(0.5, 0) == 2);
  CHECK(pairs_for_equivalence(0.5, 1, 0.5) == 0);
  CHECK(pairs_for_equivalence(0.5, std::nan("")) == 0);
  CHECK(pairs_for_equivalence(1e-9, 1) == 0);
}

namespace {

using Values = std::vector<double>;

struct Sampled {
  Values base, other;
};
/// n pairs whose difference has mean `difference` and standard deviation `sd`.
Sampled pairs_of(std::mt19937_64& random, int n, double difference, double sd) {
  std::normal_distribution<double> base(5, 3), noise(difference, sd);
  Sampled out;
  for (int i = 0; i < n; ++i) {
    out.base.push_back(base(random));
    out.other.push_back(out.base.back() + noise(random));
  }
  return out;
}

}  // namespace

TEST_CASE("equivalence: the tests agree with Student's t statistics computed from their definition") {
  const unsigned seed = 20261123;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int trial = 0; trial < 200; ++trial) {
    const int n = 2 + trial % 30;
    const Sampled s = pairs_of(random, n, 0.3, 1);
    const double margin = 0.1 + 0.01 * trial;
    double mean = 0, squares = 0;
    for (int i = 0; i < n; ++i) mean += (s.other[i] - s.base[i]) / n;
    for (int i = 0; i < n; ++i) squares += std::pow(s.other[i] - s.base[i] - mean, 2);
    const double error = std::sqrt(squares / (n - 1) / n), limit = student_factor(n, 0.90);
    const Equivalence e = equivalence(s.base, s.other, margin);
    CHECK(e.difference.mean == Approx(mean));
    CHECK(e.within == ((mean + margin) / error > limit && (margin - mean) / error > limit));
    CHECK(e.p == Approx(t_test_p(paired_difference(s.other, s.base))));
  }
}

TEST_CASE("equivalence: pairs that are equal, alone, or none") {
  CHECK(equivalence(Values{1, 2}, Values{1, 2}, 0.1).within);
  CHECK(std::isnan(equivalence(Values{1, 2}, Values{1, 2}, 0.1).p));
  CHECK(equivalence(Values{1}, Values{1}, 0.1).within);
  CHECK_FALSE(equivalence(Values{1}, Values{1.01}, 0.1).within);  // one pair has no interval
  CHECK_FALSE(equivalence(Values{}, Values{}, 0.1).within);
  CHECK(equivalence(Values{}, Values{}, 0.1).difference.n == 0);
  CHECK(equivalence(Values{1, 2}, Values{1.0625, 2.0625}, 0.1).within);  // one difference, twice: its interval is a point
  CHECK_FALSE(equivalence(Values{1, 2}, Values{1.125, 2.125}, 0.1).within);
}

TEST_CASE("equivalence: a difference of the margin passes in at most 5 %, none where there are enough pairs") {
  const unsigned seed = 7;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const double margin = 0.5, sd = 1;
  const int trials = 4000;
  for (const int n : {5, 20, 80}) {
    int passed = 0;
    for (int i = 0; i < trials; ++i) {
      const Sampled s = pairs_of(random, n, margin, sd);
      passed += equivalence(s.base, s.other, margin).within;
    }
    CHECK(passed < trials * 0.05 + 4 * std::sqrt(trials * 0.05 * 0.95));
  }
}

TEST_CASE("equivalence of ratios: the mean, and coverage of the interval") {
  CHECK(ratio_equivalence(Values{10, 20}, Values{11, 22}, 0.2).difference.mean == Approx(0.1));
  CHECK(ratio_equivalence(Values{10, 20}, Values{11, 22}, 0.2).within);  // each by one factor: no spread
  CHECK_FALSE(ratio_equivalence(Values{10, 20}, Values{11, 22}, 0.09).within);
  CHECK(ratio_equivalence(Values{10, 20}, Values{10, 20}, 0.01).within);
  const unsigned seed = 9;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> steps(4, 0.3), factor(0, 0.1);
  const int trials = 4000, n = 40;
  const double ratio = 1.05 * std::exp(0.005);  // mean of the factor, which does not depend on the steps
  int covered = 0;
  for (int trial = 0; trial < trials; ++trial) {
    Values base, other;
    for (int i = 0; i < n; ++i) {
      base.push_back(steps(random));
      other.push_back(1.05 * base.back() * factor(random));
    }
    const MeanInterval d = ratio_equivalence(base, other, 0.1).difference;
    covered += d.lo < ratio - 1 && ratio - 1 < d.hi;
  }
  const double share = static_cast<double>(covered) / trials;
  CHECK(share > 0.88);  // 90 % but for what the delta method misses at n = 40
  CHECK(share < 0.92);
}
