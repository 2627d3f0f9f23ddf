// Statistics against values worked out by hand (t quantiles of 1 and 2 degrees of freedom in closed form); undefined stays undefined.
#include "results/stats/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "results/stats/aggregate_metrics.hpp"
#include "tests/catch.hpp"
#include "tests/results/stats/statistics_reference.hpp"

using namespace odrpo;

TEST_CASE("Student's factor") {
  CHECK(student_factor(2, 0.95) == Approx(std::tan(0.475 * 3.14159265358979323846)).epsilon(1e-12));
  CHECK(student_factor(3, 0.95) == Approx(0.95 / std::sqrt(2 * 0.975 * 0.025)).epsilon(1e-12));
  CHECK(student_factor(4, 0.95) == Approx(3.182446305284263).epsilon(1e-12));
  CHECK(student_factor(21, 0.95) == Approx(2.0859634472658364).epsilon(1e-12));
  CHECK(student_factor(21, 0.99) == Approx(2.845339709784508).epsilon(1e-12));
  CHECK(student_factor_of(20, 0.95) == student_factor(21, 0.95));
  CHECK((student_factor_of(2.5, 0.95) < student_factor(3, 0.95) && student_factor_of(2.5, 0.95) > student_factor(4, 0.95)));
  for (const double freedom : {1.0, 2.5, 30.0}) CHECK(student_p(student_factor_of(freedom, 0.9), freedom) == Approx(0.1).epsilon(1e-10));
  CHECK(std::isnan(student_factor_of(0, 0.95)));
  CHECK(std::isnan(student_p(1, 0)));
  CHECK(std::isnan(student_factor(1, 0.95)));
  CHECK(std::isnan(student_factor(0, 0.95)));
  CHECK(std::isnan(student_factor(5, 1.0)));
  CHECK(std::isnan(student_factor(5, std::nan(""))));
}

TEST_CASE("interval of a mean") {
  const std::vector<double> values = {1, 2, 3, 4};
  const MeanInterval m = mean_interval(values);
  CHECK(m.n == 4);
  CHECK(m.mean == 2.5);
  CHECK(m.sd == Approx(1.2909944487358056));     // sqrt(5/3)
  CHECK(m.lo == Approx(2.5 - 2.0542602567605));  // 3.1824… sqrt(5/3) / 2
  CHECK(m.hi == Approx(2.5 + 2.0542602567605));
  const MeanInterval one = mean_interval(std::vector<double>{7});
  CHECK(one.n == 1);
  CHECK(one.mean == 7);
  CHECK((std::isnan(one.sd) && std::isnan(one.lo) && std::isnan(one.hi)));
  const MeanInterval none = mean_interval({});
  CHECK(none.n == 0);
  CHECK((std::isnan(none.mean) && std::isnan(none.sd) && std::isnan(none.lo) && std::isnan(none.hi)));
  const MeanInterval same = mean_interval(std::vector<double>{3, 3, 3});
  CHECK((same.sd == 0 && same.lo == 3 && same.hi == 3));
  CHECK(std::isnan(mean_interval(std::vector<double>{1, std::nan(""), 2}).mean));
}

TEST_CASE("paired difference") {
  const std::vector<double> a = {2, 4, 6}, b = {1, 1, 1};
  const MeanInterval d = paired_difference(a, b);  // 1, 3, 5
  CHECK(d.n == 3);
  CHECK(d.mean == 3);
  CHECK(d.sd == 2);
  CHECK(d.hi - d.lo == Approx(2 * 4.302652729911275 * 2 / std::sqrt(3.0)));
  CHECK(paired_difference({}, {}).n == 0);
}

TEST_CASE("paired percent") {
  const std::vector<double> a = {90, 110, 126}, b = {100, 100, 120};
  const PercentInterval p = paired_percent(a, b);  // -10, 10, 5
  CHECK(p.undefined == 0);
  CHECK(p.mean.n == 3);
  CHECK(p.mean.mean == Approx(5.0 / 3));
  CHECK(p.mean.sd == Approx(std::sqrt(650.0 / 6)));  // squares of -35/3, 25/3, 10/3 over 2
  CHECK(p.mean.hi - p.mean.mean == Approx(4.302652729911275 * std::sqrt(650.0 / 18)));
  // no percentage of 0, of a negative number (more of it would be less), or beyond all numbers; a row may be anything
  const std::vector<double> odd = {1, 0, 1, 1e300, -2, 0, 0, -1}, of = {0, 0, -1, 1e-300, -4, -1, 4, 1};
  const PercentInterval q = paired_percent(odd, of);  // the last two: -100, -200
  CHECK(q.undefined == 6);
  CHECK(q.mean.n == 2);
  CHECK(q.mean.mean == Approx(-150));
  CHECK(paired_percent({}, {}).mean.n == 0);
  const PercentInterval one = paired_percent(std::vector<double>{3}, std::vector<double>{2});
  CHECK(one.mean.mean == Approx(50));
  CHECK(std::isnan(one.mean.lo));
}

TEST_CASE("share of runs: Wilson's interval") {
  const std::vector<double> none = {0, 0, 0}, one = {0, 1, 0}, all = {100, 100, 100};
  const MeanInterval m = share_interval(one);  // (p + z^2/2n -+ z sqrt(p (1 - p)/n + z^2/4n^2)) / (1 + z^2/n)
  CHECK(m.n == 3);
  CHECK(m.mean == Approx(1.0 / 3));
  CHECK(m.lo == Approx(0.06149194472039621));
  CHECK(m.hi == Approx(0.7923403991979522));
  CHECK(share_interval(none).mean == 0);
  CHECK(share_interval(none).lo == 0);
  CHECK(share_interval(none).hi == Approx(0.5614970317550454));  // z^2 / (n + z^2)
  CHECK(share_interval(all, 100).lo == Approx(43.85029682449546));
  CHECK(share_interval(all, 100).hi == 100);
  CHECK(share_interval(std::vector<double>{1}).lo == Approx(0.20654931437723745));
  CHECK(std::isnan(share_interval({}).lo));
  CHECK(std::isnan(share_interval(std::vector<double>{0, std::nan("")}).hi));
}

TEST_CASE("difference of shares: Newcombe's interval for pairs") {
  std::vector<double> a, b;  // his example: 36 pairs of both, 12 of the first alone, 2 of the second alone
  for (int i = 0; i < 50; ++i) a.push_back(i < 48), b.push_back(i < 36 || i >= 48);
  const MeanInterval d = share_difference(a, b);
  CHECK(d.n == 50);
  CHECK(d.mean == Approx(0.2));
  CHECK(d.lo == Approx(0.0569).margin(5e-5));
  CHECK(d.hi == Approx(0.3404).margin(5e-5));
  const std::vector<double> ones = {1, 1, 1}, zeros = {0, 0, 0};
  CHECK(share_difference(ones, zeros).lo == Approx(0.20592328245977842));
  CHECK(share_difference(ones, zeros).hi == 1);
  CHECK(share_difference(zeros, zeros).hi == Approx(0.5614970317550454));  // no runs that differ are not no doubt
  CHECK(share_difference(zeros, zeros).lo == Approx(-0.5614970317550454));
  CHECK(share_difference({}, {}).n == 0);
}

TEST_CASE("difference of shares: Newcombe's continuity correction of the pairs' correlation") {
  struct Pairs {
    std::size_t both, only_a, only_b, neither;
    double lo, hi;
  };
  for (const Pairs& p : {Pairs{20, 12, 2, 16, 0.056156424841748265, 0.3292069954001405},   // 296 - 50 / 2; uncorrected 0.0618 .. 0.3242
                         Pairs{8, 4, 3, 5, -0.20926740996667131, 0.29929497062498206},     // 28 - 20 / 2
                         Pairs{5, 3, 3, 3, -0.32619694837968694, 0.32619694837968694}}) {  // 6 is below 14 / 2: no correlation
    std::vector<double> a, b;
    const auto add = [&](std::size_t count, double of_a, double of_b) { a.insert(a.end(), count, of_a), b.insert(b.end(), count, of_b); };
    add(p.both, 1, 1), add(p.only_a, 1, 0), add(p.only_b, 0, 1), add(p.neither, 0, 0);
    CHECK(share_difference(a, b).lo == Approx(p.lo).epsilon(1e-12));
    CHECK(share_difference(a, b).hi == Approx(p.hi).epsilon(1e-12));
  }
}

TEST_CASE("quartiles") {
  const Quartiles q = quartiles(std::vector<double>{4, 1, 3, 2});
  CHECK(q.q1 == 1.75);
  CHECK(q.median == 2.5);
  CHECK(q.q3 == 3.25);
  const Quartiles one = quartiles(std::vector<double>{5});
  CHECK((one.q1 == 5 && one.median == 5 && one.q3 == 5));
  CHECK(std::isnan(quartiles({}).median));
  CHECK(std::isnan(quartiles(std::vector<double>{1, std::nan("")}).median));
}

namespace {

constexpr double close = 1e-12;

bool equal(double a, double b) { return std::fabs(a - b) <= close; }

/// Tasks of 1 to 9 runs; values on a grid, so that there are ties.
TaskScores random_scores(std::mt19937& random, std::size_t tasks) {
  TaskScores scores(tasks);
  for (auto& runs : scores)
    for (std::size_t n = 1 + random() % 9; n > 0; --n) runs.push_back(static_cast<double>(random() % 8) / 4);
  return scores;
}

}  // namespace

TEST_CASE("aggregates are rliable's") {
  const TaskScores &x = reference::x, &y = reference::y;
  const std::vector<double>& want = reference::aggregates[0];
  CHECK(equal(aggregate_mean(x), want[0]));
  CHECK(equal(aggregate_median(x), want[1]));
  CHECK(equal(interquartile_mean(x), want[2]));
  CHECK(equal(optimality_gap(x, 0.6), want[3]));
  CHECK(equal(probability_of_improvement(x, y), want[4]));
  for (std::size_t k = 0; k < reference::taus[0].size(); ++k) {
    CHECK(equal(run_score_distribution(x, reference::taus[0][k]), reference::run_scores[0][k]));
    CHECK(equal(average_score_distribution(x, reference::taus[0][k]), reference::average_scores[0][k]));
  }
}

TEST_CASE("aggregates by hand") {
  const TaskScores one = {{5, 1, 2, 3, 4}};
  CHECK(aggregate_mean(one) == 3);
  CHECK(aggregate_median(one) == 3);
  CHECK(median_of_runs({{1, 2, 10}}) == 2);
  CHECK(median_of_runs({{1, 2, 10, 20}}) == 6);
  CHECK(aggregate_median({{1, 2, 9}}) == 4);
  CHECK(interquartile_mean(one) == 3);                            // 5 / 4 = 1 run off each end: 2, 3, 4
  CHECK(interquartile_mean({{0, 100}, {4, 6, 8, 7}}) == 6.25);    // 6 / 4 = 1: 4, 6, 7, 8
  CHECK(interquartile_mean({{1, 2, 30}}) == 11);                  // 3 / 4 = 0: all
  CHECK(aggregate_mean({{1, 3}, {10}}) == 6);                     // tasks weigh the same
  CHECK(optimality_gap({{0, 2}, {4, 6}}, 4) == 1.5);              // 4 - (0 + 2 + 4 + 4) / 4
  CHECK(run_score_distribution({{1, 2}, {2, 3}}, 2) == 0.25);     // above, not at
  CHECK(average_score_distribution({{1, 2}, {2, 3}}, 2) == 0.5);  // means 1.5 and 2.5
  CHECK(probability_of_improvement({{2, 2}}, {{2, 2}}) == 0.5);
  CHECK(probability_of_improvement({{3, 4}}, {{1, 2}}) == 1);
  CHECK(probability_of_improvement({{3, 4}, {0}}, {{1, 2}, {5}}) == 0.5);
}

TEST_CASE("the probability of improvement is the count over pairs") {
  std::mt19937 random(5);
  for (int trial = 0; trial < 300; ++trial) {
    const TaskScores x = random_scores(random, 1 + trial % 4), y = random_scores(random, x.size());
    double sum = 0;
    for (std::size_t t = 0; t < x.size(); ++t) {
      double wins = 0;
      for (const double a : x[t])
        for (const double b : y[t]) wins += a > b ? 1 : a == b ? 0.5 : 0;
      sum += wins / static_cast<double>(x[t].size() * y[t].size());
    }
    REQUIRE(equal(probability_of_improvement(x, y), sum / static_cast<double>(x.size())));
    REQUIRE(equal(probability_of_improvement(x, y) + probability_of_improvement(y, x), 1));
    REQUIRE(equal(probability_of_improvement(x, x), 0.5));
    REQUIRE(equal(aggregate_mean({win_shares(x[0], y[0])}), probability_of_improvement({x[0]}, {y[0]})));
  }
  std::printf("probability of improvement: 300 random matrices, seed 5\n");
}

TEST_CASE("aggregates shift and scale with the scores, and do not see the order of runs") {
  std::mt19937 random(6);
  for (int trial = 0; trial < 200; ++trial) {
    const TaskScores x = random_scores(random, 1 + trial % 5);
    TaskScores moved = x;
    for (auto& runs : moved) {
      std::shuffle(runs.begin(), runs.end(), random);
      for (double& v : runs) v = 3 * v - 7;
    }
    for (const auto metric : {aggregate_mean, aggregate_median, median_of_runs, interquartile_mean})
      REQUIRE(equal(metric(moved), 3 * metric(x) - 7));
    REQUIRE(equal(optimality_gap(moved, 3 * 1.0 - 7), 3 * optimality_gap(x, 1.0)));
    REQUIRE(equal(run_score_distribution(moved, 3 * 0.8 - 7), run_score_distribution(x, 0.8)));
  }
  std::printf("shift and scale: 200 random matrices, seed 6\n");
}

TEST_CASE("aggregates without runs are undefined") {
  for (const TaskScores& none : {TaskScores{}, TaskScores{{}}, TaskScores{{1, 2}, {}}}) {
    for (const auto metric : {aggregate_mean, aggregate_median, median_of_runs, interquartile_mean}) CHECK(std::isnan(metric(none)));
    CHECK(std::isnan(optimality_gap(none, 1)));
    CHECK(std::isnan(run_score_distribution(none, 1)));
    CHECK(std::isnan(average_score_distribution(none, 1)));
    CHECK(std::isnan(probability_of_improvement(none, none)));
  }
  CHECK(std::isnan(probability_of_improvement({{1}}, {{1}, {2}})));
}
