// Aggregates against rliable's figures, against their definitions on random matrices, and where they are undefined.
#include "results/stats/aggregate_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "tests/catch.hpp"
#include "tests/results/stats/statistics_reference.hpp"

using namespace odrpo;

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
