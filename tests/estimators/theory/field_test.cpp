// The definition by level against the estimators' own, the fast form against it, and the field against Monte Carlo.
#include "estimators/theory/field.hpp"

#include <cmath>
#include <random>

#include "estimators/definition.hpp"
#include "estimators/theory/others.hpp"
#include "estimators/theory/setting.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"
#include "tests/estimators/theory/settings.hpp"

using namespace odrpo;

namespace {

std::vector<double> rewards_of(const TheorySetting& s, std::span<const int> counts) {
  std::vector<double> rewards;
  for (std::size_t k = 0; k < counts.size(); ++k) rewards.insert(rewards.end(), static_cast<std::size_t>(counts[k]), s.values[k]);
  return rewards;
}

bool close(double got, double want, double tolerance) { return std::abs(got - want) <= tolerance * (1 + std::abs(want)); }

}  // namespace

TEST_CASE("theory: by level, levels 1..K have the advantages of the definition") {
  const int levels = 4, members = 5;
  for (const TheorySetting& s : every_setting(plain_values(levels), members)) {
    CAPTURE(text_of(s.estimator));
    bool good = true;
    for_each_histogram(levels, members, [&](std::span<const int> counts) {
      const std::vector<double> rewards = rewards_of(s, counts), by_level = group_advantages(s, counts);
      std::vector<double> out(rewards.size());
      advantages(s.estimator, levels, rewards, no_median, out);
      for (std::size_t i = 0; i < out.size(); ++i) good = good && close(by_level[static_cast<std::size_t>(rewards[i]) - 1], out[i], 1e-12);
    });
    CHECK(good);
  }
}

TEST_CASE("theory: values of levels space the sums of uniform odrpo as real rewards do") {
  for (const char* word : {"odrpo(grpo)", "odrpo(maxrl)"}) {
    const TheorySetting s{parse_estimator(word).value(), {0.5, 2, 2.75, 11}, 6};
    for_each_histogram(4, 6, [&](std::span<const int> counts) {
      const std::vector<double> rewards = rewards_of(s, counts), by_level = group_advantages(s, counts);
      std::vector<double> out(rewards.size());
      odrpo_continuous(s.estimator, rewards, no_median, out);
      std::size_t i = 0;
      for (std::size_t k = 0; k < counts.size(); ++k)
        for (int n = 0; n < counts[k]; ++n) CHECK(close(by_level[k], out[i++], 1e-12));
    });
  }
}

TEST_CASE("theory: the fast form by companions equals the definition") {
  for (const auto& values :
       {plain_values(4), std::vector<double>{1, 2, 12}, std::vector<double>{-3, 0.25, 0.5, 7}, std::vector<double>{0, 1, 1e6}})
    for (const int members : {2, 3, 4, 7})
      for (const TheorySetting& s : every_setting(values, members)) {
        CAPTURE(text_of(s.estimator), values.size(), members);
        OthersMap map(s);
        const std::size_t levels = values.size();
        std::vector<double> gain(levels), d(levels * levels);
        bool good = true;
        for_each_histogram(s.levels(), members - 1, [&](std::span<const int> others) {
          map.gains(others, gain);
          std::vector<int> group(others.begin(), others.end());
          for (std::size_t k = 0; k < levels; ++k) {
            ++group[k];
            good = good && close(gain[k], group_advantages(s, group)[k], 1e-10);
            --group[k];
          }
        });
        for_each_histogram(s.levels(), members - 2, [&](std::span<const int> others) {
          map.differences(others, d);
          std::vector<int> group(others.begin(), others.end());
          for (std::size_t a = 1; a < levels; ++a)
            for (std::size_t b = 0; b < a; ++b) {
              ++group[a], ++group[b];
              const auto advantage = group_advantages(s, group);
              const double size =
                  std::max(std::abs(advantage[a]), std::abs(advantage[b]));  // of which the definition's difference keeps 1e-16
              good = good && std::abs(d[a * levels + b] - (advantage[a] - advantage[b])) <= 1e-10 * (1 + size);
              --group[a], --group[b];
            }
        });
        CHECK(good);
      }
}

TEST_CASE("theory: histograms are all there, and their probabilities sum to 1") {
  const std::vector<double> p = {0.2, 0, 0.5, 0.3};
  const Multinomial multinomial(p, 7);
  double total = 0, seen = 0, mean = 0;
  for_each_histogram(4, 7, [&](std::span<const int> counts) {
    const double probability = multinomial(counts);
    total += probability, seen += 1, mean += probability * counts[2];
    if (counts[1] > 0) CHECK(probability == 0);
  });
  CHECK(seen == histogram_count(4, 7));
  CHECK(total == Approx(1).epsilon(1e-14));
  CHECK(mean == Approx(3.5).epsilon(1e-14));
  const int by_hand[] = {2, 0, 3, 2};  // 7! / (2! 3! 2!) = 210
  CHECK(multinomial(by_hand) == Approx(210 * 0.04 * 0.125 * 0.09).epsilon(1e-14));
}

TEST_CASE("theory: the field is the mean advantage of drawn groups") {
  const std::vector<const char*> words = {"grpo",
                                          "maxrl",
                                          "rloo",
                                          "rank-grpo",
                                          "odrpo(grpo)",
                                          "odrpo-linear(maxrl)",
                                          "odrpo-gini(grpo)",
                                          "odrpo-gini-median(maxrl)",
                                          "odrpo-gini-median(grpo)",
                                          "max-at-k-centred"};
  std::mt19937_64 g(20261124);
  for (int trial = 0; trial < 20; ++trial) {
    const TheorySetting s = setting_of(words[static_cast<std::size_t>(trial) % words.size()], 2 + trial % 4, 3 + trial % 5);
    const std::vector<double> p = simplex_point(g, s.values.size()), field = update_field(s, p);
    CAPTURE(estimator_word(s.estimator), s.levels(), s.members, trial);
    std::discrete_distribution<int> draw(p.begin(), p.end());
    const int groups = 4000;
    for (std::size_t k = 0; k < p.size(); ++k) {
      double sum = 0, squares = 0;
      for (int n = 0; n < groups; ++n) {
        std::vector<double> rewards = {s.values[k]};
        while (static_cast<int>(rewards.size()) < s.members) rewards.push_back(s.values[static_cast<std::size_t>(draw(g))]);
        std::vector<double> out(rewards.size());
        advantages(s.estimator, s.levels(), rewards, no_median, out);
        sum += out[0], squares += out[0] * out[0];
      }
      const double mean = sum / groups, error = std::sqrt((squares / groups - mean * mean) / groups);
      CHECK(std::abs(mean - field[k]) <= 4 * error + 1e-12);
    }
  }
}

TEST_CASE("theory: with endless groups the field of grpo points along the gradient of the mean reward") {
  const std::vector<double> p = {0.2, 0.3, 0.5}, values = plain_values(3);
  const double small = 1 - field_cosine(update_field(setting_of("grpo", 3, 4), p), values);
  const double large = 1 - field_cosine(update_field(setting_of("grpo", 3, 200), p), values);
  CHECK(small > 1e-4);
  CHECK(large < 1e-5);
  CHECK(field_cosine(update_field(setting_of("rloo", 3, 4), p), values) == Approx(1).epsilon(1e-14));
}

TEST_CASE("theory: what has no field is refused") {
  const std::vector<double> half = {0.5, 0.5};
  CHECK_THROWS_AS(update_field(setting_of("posterior(grpo)", 2, 4), half), Failure);
  CHECK_THROWS_AS(update_field(setting_of("grpo", 1, 4), half), Failure);
  CHECK_THROWS_AS(update_field(setting_of("grpo", 2, 1), half), Failure);
  CHECK_THROWS_AS(update_field({parse_estimator("grpo").value(), {2, 2}, 4}, half), Failure);
  CHECK_THROWS_AS(update_field(setting_of("grpo", 10, 64), std::vector<double>(10, 0.1)), Failure);
  TheorySetting running = setting_of("odrpo-gini-median(grpo)", 2, 4);
  running.estimator.median = MedianRule::running;
  CHECK_THROWS_AS(update_field(running, half), Failure);
}
