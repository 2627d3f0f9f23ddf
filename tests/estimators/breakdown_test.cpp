// An estimator's answer taken apart: by hand, and adding up to the advantages under every convention.
#include <cmath>
#include <random>

#include "estimators/definition.hpp"
#include "estimators/formula_text.hpp"
#include "estimators/level_values.hpp"
#include "tests/catch.hpp"
#include "tests/estimators/configs.hpp"

using namespace odrpo;

TEST_CASE("a breakdown by hand: 1 3 3 on three levels") {
  EstimatorConfig c = parse_estimator("odrpo-linear(maxrl)").value();
  const std::vector<double> rewards = {1, 3, 3};
  Breakdown b = break_down(c, 3, rewards, no_median);
  REQUIRE(b.levels.size() == 3);
  const LevelPart &dead = b.levels[0], &three = b.levels[2];
  CHECK(dead.count == 3);
  CHECK(dead.weight == 0);
  CHECK(std::isnan(dead.norm));
  CHECK((dead.reached == 0 && dead.missed == 0));
  CHECK((three.low == 2 && three.high == 3 && three.count == 2 && three.weight == 3));
  CHECK(three.share == Approx(2 / 3.0));
  CHECK(three.norm == Approx(2 / 3.0));
  CHECK(three.reached == Approx(3 * (1 / 3.0) / (2 / 3.0)));
  CHECK(three.missed == Approx(-3));
  CHECK(b.mean == Approx(7 / 3.0));
  CHECK(std::isnan(b.deviation));
  CHECK(std::isnan(b.median));

  c = parse_estimator("odrpo-gini-median(grpo)").value();
  c.compat = Compat::verl;
  b = break_down(c, 3, rewards, no_median);
  CHECK(b.median == 3);
  CHECK(b.deviation == Approx(std::sqrt(4 / 3.0)));
  CHECK(b.levels[1].norm == Approx(std::sqrt(1 / 3.0) + 1e-6));
  CHECK(b.levels[1].weight == Approx(std::sqrt(2.0) * (0.1 + 8 / 9.0 * std::exp(-0.5))));
  c.compat = Compat::nemo;
  b = break_down(c, 3, rewards, no_median);
  CHECK(std::isnan(b.levels[1].norm));
  CHECK(std::isnan(b.deviation));
  CHECK(b.levels[1].missed == Approx(-b.levels[1].weight));  // sees 1 1

  c = parse_estimator("convex-reinforce").value();
  b = break_down(c, 3, rewards, no_median);
  CHECK(b.levels[1].weight == Approx(std::sqrt(2.0)));
  CHECK(b.levels[1].norm == 1);
  CHECK(b.levels[1].reached == Approx(std::sqrt(2.0) / 3));

  c = parse_estimator("grpo").value();
  b = break_down(c, 3, rewards, no_median);
  CHECK(b.levels.empty());
  CHECK(b.deviation == Approx(std::sqrt(8 / 9.0)));
  c.ddof = 1;
  CHECK(std::isnan(break_down(c, 3, std::vector<double>{2}, no_median).deviation));

  c = parse_estimator("odrpo(grpo)").value();
  c.compat = Compat::verl;
  b = break_down(c, 3, std::vector<double>{1.5}, no_median);
  REQUIRE(b.levels.size() == 1);
  CHECK(
      (b.levels[0].low == 0 && b.levels[0].high == 1.5 && b.levels[0].weight == 1 && b.levels[0].norm == 1 && b.levels[0].reached == 1.5));
}

TEST_CASE("mean and deviation keep the range and the digits of doubles") {
  const EstimatorConfig c = parse_estimator("grpo").value();
  const Breakdown large = break_down(c, 3, std::vector<double>{1e200, 3e200}, no_median);
  CHECK(large.mean == Approx(2e200));
  CHECK(large.deviation == Approx(1e200));
  const Breakdown equal = break_down(c, 3, std::vector<double>{0.1, 0.1, 0.1}, no_median);
  CHECK(equal.mean == 0.1);
  CHECK(equal.deviation == 0);
}

TEST_CASE("a million levels of convex-reinforce are taken apart in linear time") {
  const EstimatorConfig c = parse_estimator("convex-reinforce").value();
  const std::vector<double> rewards = {0, 1e6};
  const Breakdown b = break_down(c, 1'000'000, rewards, no_median);  // quadratic, this would run into the time limit of the tests
  REQUIRE(b.levels.size() == 1'000'000);
  CHECK(b.levels.back().weight == 1000);
  double sum = 0;
  for (const LevelPart& part : b.levels) sum += part.reached;
  CHECK(sum == Approx(b.advantages[1]).epsilon(1e-12));
}

TEST_CASE("beside values a row has what its level is worth, and the rows add up") {
  const unsigned seed = 42;
  CAPTURE(seed);
  std::mt19937 g(seed);
  const std::vector<double> values = {0.5, 1, 4, 4.25, 9, 19, 20};
  for (EstimatorConfig c : every_config()) {
    c.values = values;
    if (values_refusal(c)) continue;
    for (int round = 0; round < 8; ++round) {
      const bool whole = round % 2 == 0;
      std::vector<double> rewards(1 + g() % 9), want(rewards.size());
      for (double& r : rewards) r = whole ? g() % 8 : (g() % 1000) / 143.0;
      const double median = c.median == MedianRule::running ? 4.5 : no_median;
      const Breakdown b = break_down(c, 7, rewards, median);
      advantages(c, 7, rewards, median, want);
      CAPTURE(text_of(c), rewards);
      CHECK(b.advantages == want);
      double mean = 0;
      for (const double r : rewards) mean += value_of_score(values, r) / static_cast<double>(rewards.size());
      CHECK(b.mean == Approx(mean));
      for (std::size_t i = 0; i < rewards.size() && !b.levels.empty(); ++i) {
        double sum = 0, size = 1;
        for (const LevelPart& part : b.levels) {
          const double share = rewards[i] >= part.high ? part.reached : part.missed;
          sum += share, size += std::abs(share);
          CHECK(part.gap == Approx(value_of_score(values, part.high) - value_of_score(values, part.low)));
          if (part.norm == part.norm && rewards.size() > 1)
            CHECK(share ==
                  Approx(part.weight * part.gap * ((rewards[i] >= part.high) - part.share) / part.norm).epsilon(1e-12).margin(1e-13));
        }
        CHECK(std::abs(sum - want[i]) <= 1e-13 * size);
      }
    }
  }
}

TEST_CASE("the rows of a breakdown add up to the advantages, for levels and for gaps, under every convention") {
  const unsigned seed = 41;
  CAPTURE(seed);
  std::mt19937 g(seed);
  for (const EstimatorConfig& c : every_config())
    for (int round = 0; round < 24; ++round) {
      if (whole_only(c)) break;  // bits_test.cpp
      const bool whole = round % 2 == 0;
      std::vector<double> rewards(1 + g() % 9), want(rewards.size());
      for (double& r : rewards) r = whole ? g() % 8 : (g() % 1000) / 125.0;
      const Breakdown b = break_down(c, 7, rewards, c.median == MedianRule::running ? 4.5 : no_median);
      advantages(c, 7, rewards, c.median == MedianRule::running ? 4.5 : no_median, want);
      CAPTURE(text_of(c), rewards);
      CHECK(b.advantages == want);
      if (row_of(c.form).basis != Basis::level) {
        CHECK(b.levels.empty());
        continue;
      }
      if (whole) CHECK(b.levels.size() == 7);
      for (std::size_t i = 0; i < rewards.size(); ++i) {
        double sum = 0, size = 1;
        for (const LevelPart& part : b.levels) {
          const double share = rewards[i] >= part.high ? part.reached : part.missed;
          sum += share;
          size += std::abs(share);
          if (share != 0) CHECK(part.weight > 0);
          if (part.norm == part.norm && rewards.size() > 1) {  // what the row says is how its shares come about
            const double indicator = (rewards[i] >= part.high) - part.share;
            CHECK(share == Approx(part.weight * (part.high - part.low) * indicator / part.norm).epsilon(1e-12).margin(1e-14));
          }
        }
        CHECK(std::abs(sum - want[i]) <= 1e-13 * size);
      }
    }
}
