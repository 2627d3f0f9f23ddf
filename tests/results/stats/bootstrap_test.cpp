// Bootstrap intervals against scipy's on the same resamples, against exhaustive resampling, and on degenerate data.
#include "results/stats/bootstrap.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "kernels/math.hpp"
#include "kernels/random.hpp"
#include "results/stats/statistics.hpp"
#include "tests/catch.hpp"
#include "tests/results/stats/statistics_reference.hpp"

using namespace odrpo;

namespace {

BootstrapDistribution distribution_of(const TaskScores& scores, const Metric& metric, int resamples = reference::resamples,
                    std::uint64_t seed = reference::seed) {
  return unit_bootstrap(units_apart(scores), {&metric, 1}, resamples, seed)[0];
}

/// percentile lo, hi, BCa lo, hi.
void check_intervals(const BootstrapDistribution& distribution, const std::vector<double>& want) {
  const Interval percentile = percentile_interval(distribution), bca = bca_interval(distribution);
  CHECK(std::fabs(percentile.lo - want[0]) < 1e-12);
  CHECK(std::fabs(percentile.hi - want[1]) < 1e-12);
  CHECK(std::fabs(bca.lo - want[2]) < 1e-9);  // the normal distribution by another text than scipy's
  CHECK(std::fabs(bca.hi - want[3]) < 1e-9);
}

bool is_undefined(const Interval& i) { return std::isnan(i.lo) && std::isnan(i.hi); }

}  // namespace

TEST_CASE("intervals are scipy's on the same resamples") {
  check_intervals(distribution_of(reference::ragged, aggregate_mean), reference::mean_of_ragged[0]);
  check_intervals(distribution_of(reference::skewed, aggregate_mean), reference::mean_of_skewed[0]);
  check_intervals(distribution_of(reference::skewed, interquartile_mean), reference::iqm_of_skewed[0]);
  check_intervals(distribution_of(reference::tied, aggregate_mean), reference::mean_of_tied[0]);
  check_intervals(distribution_of(reference::tied, median_of_runs), reference::median_of_tied[0]);
}

TEST_CASE("picks are a function of seed, resample and stratum") {
  Picks all, alone, other;
  const std::vector<std::uint32_t> sizes = {5, 7, 5};
  draw_picks(sizes, 9, 3, all);
  REQUIRE(all.size() == 3);
  CHECK(all[0] != all[2]);
  draw_picks(std::vector<std::uint32_t>{5}, 9, 3, alone);
  CHECK(alone[0] == all[0]);  // whatever other strata there are
  draw_picks(sizes, 9, 4, other);
  CHECK(other != all);
  draw_picks(sizes, 10, 3, other);
  CHECK(other != all);
  draw_picks(sizes, 9, 3, other);
  CHECK(other == all);
  // every item is as frequent as another: chi-square with 6 degrees of freedom, 99.99 % quantile 27.9
  std::vector<double> times(7, 0.0);
  constexpr int draws = 3000;
  for (std::uint32_t b = 0; b < draws; ++b) {
    draw_picks(sizes, 11, b, all);
    for (const std::uint32_t i : all[1]) ++times.at(i);
  }
  double chi = 0;
  for (const double n : times) chi += (n - draws) * (n - draws) / draws;
  std::printf("picks: chi-square %.1f of 7 items, %d resamples, seed 11\n", chi, draws);
  CHECK(chi < 27.9);
}

TEST_CASE("the resampled law is the exhaustive one") {
  // all 4^4 resamples of four values: mean and variance of the mean in closed form, sigma^2 / n with sigma by n
  const TaskScores four = {{1, 2, 4, 9}};
  const BootstrapDistribution distribution = distribution_of(four, aggregate_mean, 50'000, 3);
  CHECK(distribution.estimate == 4);
  double mean = 0, square = 0;
  for (const double v : distribution.resampled) mean += v / 50'000;
  for (const double v : distribution.resampled) square += (v - mean) * (v - mean) / 50'000;
  const double variance = (9.0 + 4 + 0 + 25) / 4 / 4;
  CHECK(std::fabs(mean - 4) < 4 * std::sqrt(variance / 50'000));
  CHECK(std::fabs(square / variance - 1) < 0.03);
  CHECK(std::is_sorted(distribution.resampled.begin(), distribution.resampled.end()));
  // acceleration of a mean: skewness / (6 sqrt n), with moments by n
  const double cubes = (-27.0 - 8 + 0 + 125) / 4, sd = std::sqrt((9.0 + 4 + 0 + 25) / 4);
  CHECK(distribution.acceleration == Approx(cubes / (sd * sd * sd) / (6 * 2)).epsilon(1e-12));
}

TEST_CASE("a paired bootstrap resamples differences") {
  // units that shift both cells alike: the difference has no spread, though each cell has
  TaskScores differences = {{}};
  for (int s = 0; s < 12; ++s) differences[0].push_back((s + 2.5) - s);
  CHECK(is_undefined(bca_interval(distribution_of(differences, aggregate_mean))));
  differences[0][3] += 1;
  const BootstrapDistribution distribution = distribution_of(differences, aggregate_mean);
  CHECK(percentile_interval(distribution).lo == Approx(2.5));
  CHECK(percentile_interval(distribution).hi < 2.5 + 0.4);
}

TEST_CASE("degenerate data have no interval") {
  for (const TaskScores& scores : {TaskScores{{2, 2, 2, 2}}, TaskScores{{0, 0}}, TaskScores{{1}}, TaskScores{{1, 1}, {3, 3, 3}}}) {
    const BootstrapDistribution distribution = distribution_of(scores, aggregate_mean);
    CHECK_FALSE(std::isnan(distribution.estimate));
    CHECK(is_undefined(bca_interval(distribution)));
    CHECK(is_undefined(percentile_interval(distribution)));
  }
  for (const TaskScores& scores : {TaskScores{}, TaskScores{{}}, TaskScores{{1, 2}, {}}}) {
    const BootstrapDistribution distribution = distribution_of(scores, aggregate_mean);
    CHECK(std::isnan(distribution.estimate));
    CHECK(is_undefined(bca_interval(distribution)));
    CHECK(is_undefined(percentile_interval(distribution)));
  }
  // a stratum with one run has no jackknife: percentile alone
  const BootstrapDistribution lonely = distribution_of({{1, 2, 3}, {7}}, aggregate_mean);
  CHECK(is_undefined(bca_interval(lonely)));
  CHECK_FALSE(is_undefined(percentile_interval(lonely)));
  // all resampled values on one side of the estimate
  CHECK(is_undefined(bca_interval({0, {1, 2, 3}, 0.01})));
  CHECK(is_undefined(bca_interval({9, {1, 2, 3}, 0.01})));
  for (const double level : {0.0, 1.0, -1.0, std::nan("")}) {
    CHECK(is_undefined(bca_interval({2, {1, 2, 3}, 0.01}, level)));
    CHECK(is_undefined(percentile_interval({2, {1, 2, 3}, 0.01}, level)));
  }
  const BootstrapDistribution sometimes = distribution_of({{1, 2, 3}}, [](const TaskScores& s) { return s[0][0] == 1 ? std::nan("") : s[0][0]; });
  CHECK(is_undefined(percentile_interval(sometimes)));
}

TEST_CASE("BCa without bias and acceleration is the percentile interval") {
  BootstrapDistribution distribution{50, {}, 0};
  for (int i = 0; i <= 100; ++i) distribution.resampled.push_back(i);
  const Interval a = bca_interval(distribution, 0.9), b = percentile_interval(distribution, 0.9);
  CHECK(a.lo == Approx(b.lo).epsilon(1e-9));
  CHECK(a.hi == Approx(b.hi).epsilon(1e-9));
  CHECK(b.lo == Approx(5).epsilon(1e-12));
  // a large acceleration ends at the largest resampled value, never beyond the formula's pole
  distribution.acceleration = 0.8;
  CHECK(bca_interval(distribution, 0.99).hi == 100);
}

TEST_CASE("the jackknife of groups gives the acceleration of single items") {
  TaskScores many = {{}};
  for (std::uint32_t i = 0; i < 4000; ++i) many[0].push_back(math::exp(math::normal_pair(draw(7, Purpose::world_residual, 0, 0, i).x).a));
  const MeanInterval m = mean_interval(many[0]);
  double cubes = 0;
  for (const double v : many[0]) cubes += (v - m.mean) * (v - m.mean) * (v - m.mean) / 4000;
  const double single = cubes / (m.sd * m.sd * m.sd) / (6 * std::sqrt(4000.0));
  const double groups = distribution_of(many, aggregate_mean, 1).acceleration;
  std::printf("acceleration of 4000 values: %.5f by items, %.5f by 1000 groups\n", single, groups);
  CHECK(groups == Approx(single).epsilon(0.25));
}

TEST_CASE("intervals follow shifts and scales of the data") {
  const BootstrapDistribution distribution = distribution_of(reference::skewed, interquartile_mean, 1000, 5);
  TaskScores moved = reference::skewed;
  for (double& v : moved[0]) v = 8 * v + 16;  // powers of two: exact
  const BootstrapDistribution other = distribution_of(moved, interquartile_mean, 1000, 5);
  CHECK(bca_interval(other).lo == Approx(8 * bca_interval(distribution).lo + 16).epsilon(1e-9));
  CHECK(bca_interval(other).hi == Approx(8 * bca_interval(distribution).hi + 16).epsilon(1e-9));
  CHECK(bca_interval(distribution, 0.99).lo < bca_interval(distribution, 0.9).lo);
}

TEST_CASE("mean over strata: Welch's interval") {
  const std::vector<std::vector<double>> one = {{1, 2, 3, 4}};
  const StratifiedMean single = stratified_mean(one);
  CHECK(single.mean.lo == mean_interval(one[0]).lo);
  CHECK(single.degrees == 3);
  CHECK(single.p == t_test_p(mean_interval(one[0])));
  // means 2 and 7, variances 1 and 8, of the means 1/3 and 4
  const std::vector<std::vector<double>> two = {{1, 2, 3}, {5, 9}};
  const StratifiedMean both = stratified_mean(two);
  CHECK(both.mean.n == 5);
  CHECK(both.mean.mean == 4.5);
  CHECK(both.mean.sd == Approx(std::sqrt((2.0 + 8.0) / 3)));
  CHECK(both.degrees == Approx((1.0 / 3 + 4) * (1.0 / 3 + 4) / (1.0 / 9 / 2 + 16.0)));
  // scipy: t.ppf(0.975, 1.1695501730103803) * sqrt(13 / 3) / 2
  CHECK(both.mean.hi - 4.5 == Approx(9.453653198729201).epsilon(1e-10));
  CHECK(std::isnan(stratified_mean(std::vector<std::vector<double>>{{1, 2}, {3}}).mean.lo));
  CHECK(std::isnan(stratified_mean(std::vector<std::vector<double>>{}).mean.mean));
  CHECK(std::isnan(stratified_mean(std::vector<std::vector<double>>{{0, 0}, {0, 0}}).p));
}

TEST_CASE("quantiles of drawn units are those of the repeated items") {
  const unsigned seed = 8;
  INFO("seed " << seed);
  std::mt19937_64 draw(seed);
  constexpr std::array<double, 6> q = {0, 0.05, 0.25, 0.5, 0.95, 1};
  for (const auto& [items, units] : {std::pair<std::size_t, std::size_t>{1, 1}, {5, 3}, {40, 40}, {3000, 7}, {20'000, 50}}) {
    std::vector<std::pair<double, std::uint32_t>> list(items);
    for (auto& [value, unit] : list) {
      value = static_cast<double>(draw() % 200) / 8;
      unit = static_cast<std::uint32_t>(draw() % units);
    }
    std::sort(list.begin(), list.end());
    std::vector<double> value;
    std::vector<std::uint32_t> unit;
    for (const auto& [v, u] : list) value.push_back(v), unit.push_back(u);
    DrawnQuantiles drawn(value, unit, units);
    for (int round = 0; round < 20; ++round) {
      std::vector<std::uint32_t> times(units, 0);
      for (std::size_t i = 0; i < units; ++i) ++times[draw() % units];
      std::vector<double> repeated;
      for (std::size_t i = 0; i < items; ++i) repeated.insert(repeated.end(), times[unit[i]], value[i]);
      std::array<double, q.size()> got{};
      drawn.at(times, q, got);
      for (std::size_t k = 0; k < q.size(); ++k) {
        const double want = quantile(repeated, q[k]);
        if (std::isnan(want)) CHECK(std::isnan(got[k]));
        else CHECK(got[k] == want);
      }
    }
  }
}

TEST_CASE("quantiles of nothing are NaN") {
  DrawnQuantiles none({}, {}, 3);
  const std::vector<std::uint32_t> times = {1, 2, 0};
  std::array<double, 1> out{};
  none.at(times, std::array<double, 1>{0.5}, out);
  CHECK(std::isnan(out[0]));
}
