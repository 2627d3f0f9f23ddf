// What must hold for every estimator: on all small histograms, and on random groups with printed seeds.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "estimators/definition.hpp"
#include "tests/catch.hpp"
#include "tests/estimators/configs.hpp"

using namespace odrpo;

namespace {

/// Calls with every catalogue word and median rule; the cardinal forms come once.
template <class Check>
void for_each_estimator(Check check) {
  for (const std::string_view word : estimator_catalogue())
    for (const auto rule : {MedianRule::lower, MedianRule::mid, MedianRule::upper}) {
      EstimatorConfig config = parse_estimator(word).value();
      config.median = rule;
      if (config.weight == Weight::gini_median || rule == MedianRule::lower) check(config);
    }
}

/// Calls with every non-decreasing group of levels 1..levels.
template <class Check>
void for_each_histogram(int levels, int group, Check check) {
  Values rewards(group, 1.0);
  for (;;) {
    check(rewards);
    int i = group - 1;
    while (i >= 0 && rewards[i] == levels) --i;
    if (i < 0) return;
    std::fill(rewards.begin() + i, rewards.end(), rewards[i] + 1);
  }
}

double difference(const Values& a, const Values& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

/// Sum zero where it is centred, equal rewards get equal advantages, a better reward never gets less.
void check_shape(const EstimatorConfig& config, const Values& rewards) {
  const Values a = run(config, rewards);
  CAPTURE(estimator_word(config), rewards, a);
  if (centred(config)) CHECK(std::abs(std::accumulate(a.begin(), a.end(), 0.0)) <= 1e-13 * (1 + largest(a)) * a.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a.size(); ++j) {
      if (rewards[i] == rewards[j]) CHECK(a[i] == a[j]);
      if (rewards[i] < rewards[j]) CHECK(a[i] <= a[j]);
    }
}

}  // namespace

TEST_CASE("all groups up to 4 levels and 5 members: centred, monotone, discrete = continuous") {
  int groups = 0;
  for (int levels = 1; levels <= 4; ++levels)
    for (int size = 1; size <= 5; ++size)
      for_each_histogram(levels, size, [&](const Values& rewards) {
        ++groups;
        for_each_estimator([&](const EstimatorConfig& config) {
          if (whole_only(config)) return;  // a better reward may get less
          check_shape(config, rewards);
          if (config.form != Form::odrpo) return;
          Values discrete(rewards.size()), real(rewards.size());
          odrpo_discrete(config, levels, rewards, no_median, discrete);
          odrpo_continuous(config, rewards, no_median, real);
          CHECK(difference(discrete, real) <= 1e-13 * (1 + largest(discrete)));
        });
      });
  CHECK(groups == 5 + 20 + 55 + 125);
}

TEST_CASE("two levels: odrpo is its base, on 1 2 for GRPO and on 0 1 for MaxRL") {
  for (int size = 1; size <= 9; ++size)
    for_each_histogram(2, size, [&](const Values& rewards) {
      Values binary = rewards;
      for (double& r : binary) r -= 1;
      CHECK(difference(run(*parse_estimator("odrpo(grpo)"), rewards), run(*parse_estimator("grpo"), rewards)) < 1e-14);
      CHECK(difference(run(*parse_estimator("odrpo(maxrl)"), rewards), run(*parse_estimator("maxrl"), binary)) < 1e-14);
    });
}

TEST_CASE("random groups: permutation, shift, scale, leave-one-out") {
  const std::uint64_t seed = 20261120;
  CAPTURE(seed);
  std::mt19937_64 draw(seed);
  const auto uniform = [&] { return static_cast<double>(draw() >> 11) * 0x1p-53; };
  for (int round = 0; round < 300; ++round) {
    const int size = 1 + static_cast<int>(draw() % 33), levels = 2 + static_cast<int>(draw() % 19);
    Values rewards(size);
    const bool whole = draw() % 2 == 0;
    for (double& r : rewards) r = whole ? 1.0 + static_cast<double>(draw() % levels) : 1 + (levels - 1) * uniform();
    Values shuffled(size);
    std::vector<int> order(size);
    std::iota(order.begin(), order.end(), 0);
    for (int i = size - 1; i > 0; --i) std::swap(order[i], order[draw() % (i + 1)]);
    for (int i = 0; i < size; ++i) shuffled[i] = rewards[order[i]];
    Values shifted = rewards, scaled = rewards;
    for (double& r : shifted) r += 4;
    for (double& r : scaled) r *= 3;

    for_each_estimator([&](const EstimatorConfig& config) {
      if (whole_only(config)) return;  // bits_test.cpp
      check_shape(config, rewards);
      const Values a = run(config, rewards, levels), b = run(config, shuffled, levels);
      Values back(size);
      for (int i = 0; i < size; ++i) back[order[i]] = b[i];
      CAPTURE(round, estimator_word(config), rewards);
      const double tolerance = 1e-12 * (1 + largest(a));
      CHECK(difference(a, back) <= tolerance);
      const bool constant = largest(a) == 0;
      const bool shift_free = config.form == Form::odrpo ? config.weight == Weight::uniform
                                                         : config.form != Form::maxrl && config.form != Form::convex_reinforce;
      const bool scale_free = config.form == Form::grpo || config.form == Form::maxrl || config.form == Form::qae || row_of(config.form).basis == Basis::rank;
      const double moved = difference(a, run(config, shifted, levels + 4)), grown = difference(a, run(config, scaled, 3 * levels));
      if (shift_free) CHECK(moved <= tolerance);
      else if (!constant) CHECK(moved > tolerance);
      if (scale_free) CHECK(grown <= tolerance);
      else if (!constant) CHECK(grown > tolerance);

      if (config.form != Form::odrpo || !whole || config.weight == Weight::gini_median) return;
      // the sum over levels of t or u, by how many of the others reach the level
      Values t(size), u(size), sum(size, 0.0);
      for (int k = 1; k <= levels; ++k) {
        leave_one_out(config, size, k, no_median, t, u);
        const int count = static_cast<int>(std::count_if(rewards.begin(), rewards.end(), [&](double r) { return r >= k; }));
        for (int i = 0; i < size; ++i) sum[i] += rewards[i] >= k ? t[count - 1] : u[count];
      }
      CHECK(difference(a, sum) <= tolerance);
    });
  }
}

TEST_CASE("the leave-one-out values of every convention add up to its advantages, groups of one too") {
  const std::uint64_t seed = 20261124;
  CAPTURE(seed);
  std::mt19937_64 draw(seed);
  for (const EstimatorConfig& config : every_config()) {
    if (config.form != Form::odrpo) continue;
    for (int round = 0; round < 20; ++round) {
      const int size = 1 + static_cast<int>(draw() % 9), levels = 7;
      Values rewards(size), a(size), t(size), u(size), sum(size, 0.0);
      for (double& r : rewards) r = static_cast<double>(draw() % (levels + 1));
      const double median = config.median == MedianRule::running ? 4.5 : group_median(rewards, config.median);
      advantages(config, levels, rewards, median, a);
      for (int k = 1; k <= levels; ++k) {
        leave_one_out(config, size, k, median, t, u);
        const int count = count_from(rewards, k);
        for (int i = 0; i < size; ++i) sum[i] += rewards[i] >= k ? t[count - 1] : u[count];
      }
      CAPTURE(text_of(config), rewards);
      CHECK(difference(a, sum) <= 1e-13 * (1 + largest(a)));
    }
  }
}

TEST_CASE("under every convention the order of a group does not matter, and equal rewards get equal advantages") {
  const std::uint64_t seed = 20261125;
  CAPTURE(seed);
  std::mt19937_64 draw(seed);
  for (const EstimatorConfig& config : every_config())
    for (int round = 0; round < 12; ++round) {
      const int size = 2 + static_cast<int>(draw() % 8);
      Values rewards(size), a(size), b(size);
      for (double& r : rewards) r = static_cast<double>(draw() % 29) / (round % 2 == 0 || whole_only(config) ? 1 : 4);
      const double median = config.median == MedianRule::running ? 4.5 : no_median;
      advantages(config, 28, rewards, median, a);
      Values turned(rewards.rbegin(), rewards.rend());
      advantages(config, 28, turned, median, b);
      std::reverse(b.begin(), b.end());
      CAPTURE(text_of(config), rewards, a);
      CHECK(difference(a, b) <= 1e-12 * (1 + largest(a)));
      for (int i = 0; i < size; ++i)
        for (int j = 0; j < i; ++j)
          if (rewards[i] == rewards[j]) CHECK(a[i] == a[j]);
    }
}
