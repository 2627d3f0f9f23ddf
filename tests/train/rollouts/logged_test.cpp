// Compares whitening of a step with the definition, and the weights that are found in advantages with those that made them.
#include "train/rollouts/logged.hpp"

#include <cmath>
#include <limits>
#include <random>

#include "estimators/definition.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

namespace {

using Values = std::vector<double>;
constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// Rollouts of 40 groups of 5 with three rewards, and the advantages factor (total - mean) / sd^power of weights.
Rollouts weighted(std::mt19937& random, const Values& weights, double power, bool constant_third) {
  Rollouts r;
  r.reward_names = {"a", "b", "c"};
  r.prompts = {"p"};
  std::normal_distribution<double> normal;
  for (std::uint32_t g = 0; g < 40; ++g) {
    r.groups.push_back({g, 0, 5 * g, 5});
    for (std::uint32_t i = 0; i < 5; ++i) {
      r.rewards.insert(r.rewards.end(), {static_cast<double>(random() % 10), random() % 6 == 0 ? none : normal(random), constant_third ? 2.0 + g : 100 * normal(random)});
      r.place.push_back({0, 5 * g + i + 1});
    }
  }
  const Values total = r.total(weights);
  for (const RolloutGroup& g : r.groups) {
    const auto of = std::span(total).subspan(g.first, g.count);
    const double mean = group_mean(of), sd = group_deviation(of, 1);
    for (const double x : of) r.advantage.push_back(static_cast<float>((x - mean) / std::pow(sd, power)));
  }
  return r;
}

}  // namespace

TEST_CASE("A step of a dump is whitened as the definition does") {
  std::mt19937 random(54);
  for (int round = 0; round < 200; ++round) {
    Whitening w{round % 7 != 0, static_cast<WhitenScale>(random() % 3), static_cast<int>(random() % 2), random() % 2 == 0 ? 0 : 1e-4, random() % 2 == 0 ? WhitenUnit::token : WhitenUnit::response, random() % 4 != 0};
    Values reward, length, advantage;
    std::vector<std::uint8_t> mask;
    std::vector<int> tokens;
    for (int i = 0; i < 12; ++i) {
      mask.push_back(random() % 5 != 0);
      reward.push_back(mask.back() != 0 ? 1.0 : none);
      tokens.push_back(static_cast<int>(random() % 6) + (i < 2));
      length.push_back(tokens.back());
      advantage.push_back(round % 11 == 0 ? 0.25 : static_cast<double>(random() % 1000) / 37 - 9);
    }
    Values expected = advantage;
    whiten_definition(w, expected, mask, tokens);
    whiten_step(w, reward, length, advantage);
    INFO("round " << round);
    for (std::size_t i = 0; i < expected.size(); ++i) REQUIRE(std::fabs(advantage[i] - expected[i]) < 1e-9 * std::max(1.0, std::fabs(expected[i])));
  }
}

TEST_CASE("Weights of rewards are found in advantages up to a factor, whatever each group is divided by") {
  std::mt19937 random(55);
  for (const Values& weights : {Values{1, 0.5, 0.25}, Values{1, -2, 0.01}, Values{1, 0, 3}})
    for (const double power : {0.0, 1.0, 2.0}) {
      const Values found = solve_weights(weighted(random, weights, power, false)).weights;
      REQUIRE(found.size() == 3);
      for (std::size_t c = 0; c < 3; ++c) CHECK(std::fabs(found[c] - weights[c]) < 1e-5);
      CHECK(rounded_weights(found) == weights);
    }
  const Values found = solve_weights(weighted(random, {2, 1, 7}, 1, true)).weights;
  REQUIRE(found.size() == 3);
  CHECK(std::fabs(found[1] - 0.5) < 1e-5);
  CHECK(found[2] != found[2]);  // never varies within a group
  const Values negative = solve_weights(weighted(random, {-1, 1, 0.5}, 0, false)).weights;
  CHECK(std::fabs(negative[0] + 1) < 1e-5);
}
