// The batch forms against the definition under every convention: scores 0..K, gaps, real rewards, groups of one, dead shares, kept masks.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "estimators/batch.hpp"
#include "estimators/definition.hpp"
#include "tests/catch.hpp"
#include "tests/estimators/configs.hpp"
#include "tests/isas.hpp"

using namespace odrpo;

namespace {

using Scores = std::vector<std::uint8_t>;
constexpr float missing = std::numeric_limits<float>::quiet_NaN();

struct Shape {
  int levels, rollouts;
};
constexpr Shape shapes[] = {{10, 1}, {10, 2}, {4, 3}, {10, 8}, {5, 16}, {17, 8}, {100, 7}, {10, 33}, {100, 255}};

/// Groups on 0..levels of every kind: wide, narrow, constant, one that stands out.
Scores random_scores(std::mt19937& g, Shape shape, int groups) {
  Scores all;
  for (int group = 0; group < groups; ++group) {
    const unsigned spread = group % 4 == 0 ? 1 : 1 + g() % (shape.levels + 1), low = g() % (shape.levels + 2 - spread);
    for (int i = 0; i < shape.rollouts; ++i) all.push_back(static_cast<std::uint8_t>(low + g() % spread));
    if (group % 8 == 4) all[all.size() - 1 - g() % shape.rollouts] = static_cast<std::uint8_t>(g() % (shape.levels + 1));
  }
  return all;
}

/// Largest difference from the definition on what is present, relative to the largest advantage; missing members must have exact zeros.
double error(const EstimatorConfig& c, int levels, std::span<const float> reward, std::span<const float> got, double median) {
  std::vector<double> rewards;
  for (const float r : reward)
    if (r == r) rewards.push_back(r);
  std::vector<double> want(rewards.size());
  advantages(c, levels, rewards, c.median == MedianRule::running ? median : no_median, want);
  double worst = 0, size = whole_only(c) ? 1 : 1e-3;  // what bits give may cancel: 2 3 3 under maxrl
  for (std::size_t i = 0, next = 0; i < reward.size(); ++i) {
    if (reward[i] != reward[i]) {
      if (got[i] != 0) return 1e30;
      continue;
    }
    size = std::max(size, std::abs(want[next]));
    worst = std::max(worst, std::abs(want[next++] - got[i]));
    if (!(std::abs(got[i]) < 1e30)) return 1e30;  // NaN too
  }
  return worst / size;
}
double worst_error(const EstimatorConfig& c, Shape shape, const std::vector<float>& rewards, const std::vector<float>& got, double median) {
  double worst = 0;
  const std::size_t n = static_cast<std::size_t>(shape.rollouts);
  for (std::size_t at = 0; at < rewards.size(); at += n)
    worst = std::max(worst, error(c, shape.levels, std::span(rewards).subspan(at, n), std::span(got).subspan(at, n), median));
  return worst;
}
std::vector<float> as_rewards(const Scores& scores) {
  std::vector<float> rewards;
  for (const std::uint8_t s : scores) rewards.push_back(s == no_score ? missing : s);
  return rewards;
}

/// Calls with every config, shape and a ready estimator.
template <class Check>
void for_each_batch(Check check) {
  for (const EstimatorConfig& c : every_config())
    for (const Shape shape : shapes) {
      BatchEstimator fast(c, shape.levels, shape.rollouts);
      const double median = 1 + (shape.levels - 1) * 0.37;
      if (fast.needs_median()) fast.set_median(median);
      check(c, shape, fast, median);
    }
}

}  // namespace

TEST_CASE("scores 0..K under every convention: definition, and the same bits on every instruction set") {
  const unsigned seed = 20261121;
  CAPTURE(seed);
  std::mt19937 g(seed);
  for_each_batch([&](const EstimatorConfig& c, Shape shape, const BatchEstimator& fast, double median) {
    const int groups = shape.rollouts > 100 ? 8 : 24;
    const Scores score = random_scores(g, shape, groups);
    std::vector<float> out(score.size()), first;
    CAPTURE(text_of(c), shape.levels, shape.rollouts);
    for (const Isa isa : isas()) {
      fast(estimator_stages(isa), score.data(), groups, out.data());
      if (first.empty()) first = out;
      CHECK(out == first);
    }
    CHECK(worst_error(c, shape, as_rewards(score), out, median) < 2e-5);
  });
}

TEST_CASE("gaps: a group is estimated from the scores it has, and full groups keep their bits") {
  const unsigned seed = 20261122;
  CAPTURE(seed);
  std::mt19937 g(seed);
  for_each_batch([&](const EstimatorConfig& c, Shape shape, const BatchEstimator& fast, double median) {
    const int groups = 24, n = shape.rollouts;
    const Scores full = random_scores(g, shape, groups);
    Scores score = full;
    for (int group = 0; group < groups; ++group) {
      const unsigned rate = group % 3 == 0 ? 0 : group % 3 == 1 ? 20 : 75;  // of 100
      for (int i = 0; i < n; ++i)
        if (g() % 100 < rate || group == 7 || (group == 10 && i > 0)) score[group * n + i] = no_score;  // nobody; one alone
    }
    std::vector<float> whole(score.size()), out(score.size(), 7.0f);
    CAPTURE(text_of(c), shape.levels, n);
    for (const Isa isa : isas()) {
      fast(estimator_stages(isa), full.data(), groups, whole.data());
      fast.with_gaps(estimator_stages(isa), score.data(), groups, out.data());
      bool same = true;
      for (int group = 0; group < groups; ++group)
        if (std::equal(full.begin() + group * n, full.begin() + (group + 1) * n, score.begin() + group * n))
          same = same && std::equal(whole.begin() + group * n, whole.begin() + (group + 1) * n, out.begin() + group * n);
      CHECK(same);
      CHECK(worst_error(c, shape, as_rewards(score), out, median) < 2e-5);
    }
  });
}

TEST_CASE("real rewards under every convention: the continuous definition, NaN left out") {
  const unsigned seed = 20261123;
  CAPTURE(seed);
  std::mt19937 g(seed);
  for_each_batch([&](const EstimatorConfig& c, Shape shape, const BatchEstimator& fast, double median) {
    if (whole_only(c)) return;
    const int groups = shape.rollouts > 100 ? 10 : 40, n = shape.rollouts;
    std::vector<float> reward;
    for (int group = 0; group < groups; ++group) {
      const float top = static_cast<float>(shape.levels), middle = top * static_cast<float>(g() % 1000) / 1000;
      for (int i = 0; i < n; ++i) {
        const float any = top * static_cast<float>(g() % 65536) / 65535, eighths = static_cast<float>(g() % (8 * shape.levels + 1)) / 8,
                    whole = static_cast<float>(g() % (shape.levels + 1)), near = middle + 1e-5f * static_cast<float>(g() % 3);
        const float kinds[] = {any, eighths, whole, std::min(near, top), middle};
        float r = kinds[group % 5];
        if (group % 5 == 3 && i == 0) r = whole;  // one that stands out of nearly equal others
        if (group % 10 > 5 && g() % 3 == 0) r = missing;
        reward.push_back(r);
      }
    }
    std::vector<float> out(reward.size(), 7.0f);
    fast.real(reward.data(), groups, out.data());
    CAPTURE(text_of(c), shape.levels, n);
    CHECK(worst_error(c, shape, reward, out, median) < 1e-6);
  });
}

TEST_CASE("whole rewards give what scores give") {
  std::mt19937 g(5);
  for_each_batch([&](const EstimatorConfig& c, Shape shape, const BatchEstimator& fast, double) {
    const int groups = 12;
    const Scores score = random_scores(g, shape, groups);
    const std::vector<float> reward = as_rewards(score);
    std::vector<float> by_score(score.size()), by_reward(score.size());
    fast(estimator_stages(best_isa()), score.data(), groups, by_score.data());
    fast.real(reward.data(), groups, by_reward.data());
    double worst = 0, size = 1e-3;
    for (std::size_t i = 0; i < score.size(); ++i) {
      worst = std::max<double>(worst, std::abs(by_score[i] - by_reward[i]));
      size = std::max<double>(size, std::abs(by_reward[i]));
    }
    CAPTURE(text_of(c), shape.levels, shape.rollouts);
    CHECK(worst <= 2e-5 * size);
  });
}

// 2/3 and 4/3 less one have mean 0; as floats 3e-8, and a relative deviation from that would be of the order of 1e7.
TEST_CASE("a mean of real rewards that is zero but for the rounding of floats is zero to maxrl") {
  EstimatorConfig c = *parse_estimator("maxrl");
  c.origin = 0;
  const BatchEstimator fast(c, 10, 2);
  float out[2] = {1, 1};
  for (const float third : {2 / 3.0f, 1 / 3.0f, 5 / 6.0f}) {
    const float around[2] = {third, 2 - third};
    fast.real(around, 1, out);
    CHECK((out[0] == 0 && out[1] == 0));
  }
  const float apart[2] = {0.5f, 1.6f};  // means of ten votes: -0.5 and 0.6 about 0.05
  fast.real(apart, 1, out);
  CHECK(out[0] == Approx(-11).epsilon(1e-5));
  CHECK(out[1] == Approx(11).epsilon(1e-5));
}

TEST_CASE("constant groups are zeros, and what is centred on the group sums to zero, under every convention") {
  std::mt19937 g(6);
  for_each_batch([&](const EstimatorConfig& c, Shape shape, const BatchEstimator& fast, double) {
    if (shape.rollouts == 1) return;
    CAPTURE(text_of(c), shape.levels, shape.rollouts);
    bool zeros = true;
    for (int level = 0; level <= shape.levels; level += 1 + shape.levels / 20) {
      const Scores score(shape.rollouts, static_cast<std::uint8_t>(level));
      const std::vector<float> reward(shape.rollouts, static_cast<float>(level) * 0.97f);
      std::vector<float> out(shape.rollouts, 1.0f), real(shape.rollouts, 1.0f);
      fast(estimator_stages(best_isa()), score.data(), 1, out.data());
      fast.real(reward.data(), 1, real.data());
      for (int i = 0; i < shape.rollouts; ++i) zeros = zeros && (c.form == Form::corpo && static_cast<double>(level) * 0.97 < c.r_min ? out[i] <= 0 && real[i] < 0 : out[i] == 0 && real[i] == 0);
    }
    CHECK(zeros);
    if (!centred(c)) return;
    const int groups = 12;
    const Scores score = random_scores(g, shape, groups);
    std::vector<float> out(score.size());
    fast(estimator_stages(best_isa()), score.data(), groups, out.data());
    for (int group = 0; group < groups; ++group) {
      double sum = 0, largest = 0;
      for (int i = 0; i < shape.rollouts; ++i) {
        sum += out[group * shape.rollouts + i];
        largest = std::max<double>(largest, std::abs(out[group * shape.rollouts + i]));
      }
      // the mean is a sum of G floats in 8 lanes, and every member's difference to it is rounded once
      CHECK(std::abs(sum) <= shape.rollouts * (shape.rollouts / 8 + 4) * 0x1p-24 * largest);
    }
  });
}

TEST_CASE("nemo damps what verl divides: the leave-one-out advantages of a group do not sum to zero") {
  EstimatorConfig c = *parse_estimator("grpo");
  c.compat = Compat::nemo;
  const Scores score = {1, 1, 1, 1, 1, 1, 1, 10};
  std::vector<float> out(8);
  BatchEstimator(c, 10, 8)(estimator_stages(best_isa()), score.data(), 1, out.data());
  CHECK(std::accumulate(out.begin(), out.end(), 0.0f) == Approx(9 - 7 * 0.3779643618981488));
}

TEST_CASE("dead shares with zeros, gaps and reals") {
  const std::uint8_t none = no_score;
  const std::uint8_t score[] = {0, 2, 3, none, none, none, 5, none, 5, 9, none, 10};
  const DeadShares from_one = dead_shares(score, 4, 3, 10, 1);  // levels 2..10: alive 2 and 3; none; none; 10
  CHECK(from_one.groups == Approx(2 / 4.0));
  CHECK(from_one.levels == Approx((7 + 9 + 9 + 8) / 36.0));
  const DeadShares from_zero = dead_shares(score, 4, 3, 10, 0);  // level 1 too, which the 0 does not reach
  CHECK(from_zero.levels == Approx((7 + 10 + 10 + 9) / 40.0));
  // 1.5 .. 4 splits levels 2 3 4, 2 .. 2.75 none though the group is alive, nobody, 0.25 .. 1 level 1, 3.5 .. 3.5 is dead
  const float reward[] = {1.5f, 4, 2, 2, 2.75f, missing, missing, missing, missing, 0.25f, 1, 1, 3.5f, missing, 3.5f};
  CHECK(dead_shares(reward, 5, 3, 4, 1).groups == Approx(2 / 5.0));
  CHECK(dead_shares(reward, 5, 3, 4, 1).levels == Approx((0 + 3 + 3 + 3 + 3) / 15.0));
  CHECK(dead_shares(reward, 5, 3, 4, 0).levels == Approx((1 + 4 + 4 + 3 + 4) / 20.0));
}

TEST_CASE("dead shares are the levels that count_from calls dead") {
  std::mt19937 g(9);
  for (int round = 0; round < 200; ++round) {
    const int levels = 2 + static_cast<int>(g() % 9), lowest = static_cast<int>(g() % 2);
    std::vector<float> reward(5);
    std::vector<double> present;
    for (float& r : reward) {
      r = g() % 4 == 0 ? missing : static_cast<float>(lowest) + static_cast<float>(g() % (4 * (levels - lowest) + 1)) / 4;
      if (r == r) present.push_back(r);
    }
    int dead = 0;
    for (int k = lowest + 1; k <= levels; ++k) {
      const int count = count_from(present, k);
      dead += count == 0 || count == static_cast<int>(present.size());
    }
    CHECK(dead_shares(reward.data(), 1, 5, levels, lowest).levels == Approx(dead / static_cast<double>(levels - lowest)));
  }
}

TEST_CASE("kept: those with a score, and of live groups when dead ones are dropped") {
  const std::uint8_t none = no_score;
  const std::uint8_t score[] = {3, 3, none, 3, none, 4, none, none, none, 7, none, none};
  const float reward[] = {3, 3, missing, 3, missing, 4, missing, missing, missing, 7, missing, missing};
  Scores kept(12, 9);
  const Scores all = {1, 1, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0}, live = {0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0};
  CHECK(fill_mask(score, 4, 3, false, kept.data()) == 5);
  CHECK(kept == all);
  CHECK(fill_mask(score, 4, 3, true, kept.data()) == 2);
  CHECK(kept == live);
  CHECK(fill_mask(reward, 4, 3, false, kept.data()) == 5);
  CHECK(kept == all);
  CHECK(fill_mask(reward, 4, 3, true, kept.data()) == 2);
  CHECK(kept == live);
}
