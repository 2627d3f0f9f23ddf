// The field under a judge's channel against exact scores, drawn groups and sums over all groups.
#include <cmath>
#include <random>

#include "estimators/theory/others.hpp"
#include "estimators/theory/field.hpp"
#include "estimators/theory/setting.hpp"
#include "tests/catch.hpp"
#include "tests/estimators/theory/settings.hpp"

using namespace odrpo;

namespace {

// The channel of exact scores: score = true level.
LevelChannel exact_channel(int levels) {
  const auto n = static_cast<std::size_t>(levels);
  LevelChannel exact{1, std::vector<double>(n * n, 0.0)};
  for (std::size_t k = 0; k < n; ++k) exact.probability[k * n + k] = 1;
  return exact;
}

/// Two or three kinds of prompts.
std::vector<LevelChannel> random_kinds(std::mt19937_64& g, std::size_t levels) {
  std::vector<LevelChannel> kinds;
  for (const double weight : simplex_point(g, 2 + levels % 2)) {
    kinds.push_back({weight, {}});
    for (std::size_t j = 0; j < levels; ++j) {
      const std::vector<double> row = simplex_point(g, levels);
      kinds.back().probability.insert(kinds.back().probability.end(), row.begin(), row.end());
    }
  }
  return kinds;
}

const char* words[] = {"grpo",      "maxrl",    "rloo",     "rank-grpo", "odrpo(grpo)", "odrpo-gini(maxrl)", "odrpo-gini-median(grpo)",
                       "reinforce", "max-at-k", "mc-grpo"};

/// One group: the true level of each member and its gradient g_j.
std::vector<double> drawn_gradient(const TheorySetting& s, const std::vector<double>& p, const std::vector<LevelChannel>& kinds,
                                   std::mt19937_64& g) {
  const std::size_t levels = p.size();
  std::vector<double> weights;
  for (const LevelChannel& kind : kinds) weights.push_back(kind.weight);
  const std::vector<double>& channel = kinds[std::discrete_distribution<std::size_t>(weights.begin(), weights.end())(g)].probability;
  std::discrete_distribution<std::size_t> of_level(p.begin(), p.end());
  std::vector<std::size_t> level, score;
  std::vector<int> counts(levels, 0);
  for (int i = 0; i < s.members; ++i) {
    level.push_back(of_level(g));
    const auto row = channel.begin() + static_cast<std::ptrdiff_t>(level.back() * levels);
    std::discrete_distribution<std::size_t> of_score(row, row + static_cast<std::ptrdiff_t>(levels));
    score.push_back(of_score(g));
    ++counts[score.back()];
  }
  const std::vector<double> advantage = group_advantages(s, counts);
  std::vector<double> gradient(levels, 0.0);
  for (std::size_t i = 0; i < level.size(); ++i)
    for (std::size_t j = 0; j < levels; ++j) gradient[j] += advantage[score[i]] / s.members * ((level[i] == j) - p[j]);
  return gradient;
}

}  // namespace

TEST_CASE("theory: a group's advantages by companions are those of the definition") {
  for (const auto& values : {plain_values(4), std::vector<double>{-3, 0.25, 0.5, 7}})
    for (const TheorySetting& s : every_setting(values, 5)) {
      CAPTURE(text_of(s.estimator));
      OthersMap map(s);
      std::vector<double> out(values.size());
      bool good = true;
      for_each_histogram(s.levels(), 5, [&](std::span<const int> counts) {
        map.advantages(counts, out);
        const std::vector<double> want = group_advantages(s, counts);
        for (std::size_t k = 0; k < out.size(); ++k) good = good && std::abs(out[k] - want[k]) <= 1e-10 * (1 + std::abs(want[k]));
      });
      CHECK(good);
    }
}

TEST_CASE("theory: under exact scores the channel's field is the field, without bias") {
  std::mt19937_64 g(20261125);
  for (const char* word : words) {
    const TheorySetting s = setting_of(word, 4, 5);
    CAPTURE(word);
    const std::vector<double> p = simplex_point(g, 4), field = update_field(s, p);
    const ChannelField of = channel_field(s, p, std::vector{exact_channel(4)});
    for (std::size_t j = 0; j < 4; ++j) {
      CHECK(of.field[j] == Approx(field[j]).margin(1e-13));
      CHECK(of.bias[j] == Approx(0).margin(1e-12));
    }
  }
  // reinforce climbs the mean reward: g = (M-1)/M p (R - mean)
  const std::vector<double> p = {0.2, 0.3, 0.5};
  const ChannelField of = channel_field(setting_of("reinforce", 3, 4), p, std::vector{exact_channel(3)});
  CHECK(of.cosine == Approx(1).epsilon(1e-13));
  CHECK(of.gradient[2] == Approx(0.75 * 0.5 * (3 - 2.3)).epsilon(1e-13));
  CHECK(of.all_flips == 0);
  CHECK(std::isnan(of.flips[0]));
}

TEST_CASE("theory: expectation and covariance under a channel are those of drawn groups, 20 settings") {
  std::mt19937_64 g(20261126);
  for (int trial = 0; trial < 20; ++trial) {
    const std::size_t levels = 2 + static_cast<std::size_t>(trial) % 3;
    const TheorySetting s = setting_of(words[trial % 10], static_cast<int>(levels), 3 + 2 * (trial % 2));
    CAPTURE(trial, estimator_word(s.estimator));
    const std::vector<double> p = simplex_point(g, levels);
    const std::vector<LevelChannel> kinds = random_kinds(g, levels);
    const ChannelField of = channel_field(s, p, kinds);
    const int groups = 20'000;
    std::vector<double> sum(levels, 0.0), squares(levels, 0.0), fourth(levels, 0.0);
    std::vector<std::vector<double>> all;
    for (int n = 0; n < groups; ++n) {
      all.push_back(drawn_gradient(s, p, kinds, g));
      for (std::size_t j = 0; j < levels; ++j) sum[j] += all.back()[j] / groups;
    }
    for (const auto& one : all)
      for (std::size_t j = 0; j < levels; ++j) {
        const double d = one[j] - sum[j];
        squares[j] += d * d / groups, fourth[j] += d * d * d * d / groups;
      }
    for (std::size_t j = 0; j < levels; ++j) {
      const double variance = of.covariance[j * levels + j];
      CHECK(std::abs(sum[j] - of.gradient[j]) <= 4 * std::sqrt(variance / groups) + 1e-12);
      CHECK(std::abs(squares[j] - variance) <= 4.5 * std::sqrt(std::max(0.0, fourth[j] - variance * variance) / groups) + 1e-12);
      CHECK(of.snr[j] == Approx(of.gradient[j] * of.gradient[j] / variance));
      double row = 0;
      for (std::size_t i = 0; i < levels; ++i) row += of.covariance[j * levels + i];
      CHECK(row == Approx(0).margin(1e-12 * (1 + variance)));  // the g_j of a group sum to 0
    }
  }
}

TEST_CASE("theory: the flips of levels against a sum over all companions, by hand for reinforce") {
  // a score says the opposite of the level in one of three cases: C_21 - C_22 and so on decide, whoever the others are
  const std::vector<double> p = {0.5, 0.2, 0.3};
  const LevelChannel channel{1, {0.8, 0.1, 0.1, 0.9, 0.1, 0.0, 0.1, 0.2, 0.7}};
  const ChannelField of = channel_field(setting_of("reinforce", 3, 4), p, std::vector{channel});
  CHECK(of.flips[1] == Approx(1).epsilon(1e-13));  // level 2 has a mean score of 1.1, level 1 of 1.3
  CHECK(of.flips[2] == Approx(0).margin(1e-13));
  CHECK(of.all_flips == Approx(0.1 / (0.1 + 0.15 + 0.06)).epsilon(1e-12));
  // half of the prompts have exact scores
  const std::vector<LevelChannel> halves = {{0.5, channel.probability}, {0.5, exact_channel(3).probability}};
  CHECK(channel_field(setting_of("reinforce", 3, 4), p, halves).flips[1] == Approx(0.5).epsilon(1e-13));
}
