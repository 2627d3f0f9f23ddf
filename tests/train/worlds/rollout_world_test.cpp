// Tests worlds whose true quality is drawn from the scores of a real training: draws, repeated completions, features.
#include "train/worlds/rollout_world.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <vector>

#include "envs/bandit/world.hpp"
#include "kernels/random.hpp"
#include "tests/catch.hpp"
#include "train/rollouts/quality_posterior.hpp"
#include "train/run_cache.hpp"

using namespace odrpo;

namespace {

RaterConfig judge_word(const char* word) {
  for (const RaterPreset& preset : rater_presets())
    if (preset.word == word) return preset.config;
  return {};
}

BanditConfig world_of(NumberRows groups) {
  BanditConfig world;
  world.prompts = static_cast<int>(groups.size());
  world.actions = 0;
  for (const auto& group : groups) world.actions = std::max(world.actions, static_cast<int>(group.size()));
  world.groups.rows = std::make_shared<const NumberRows>(std::move(groups));
  world.judge = "judge";
  return world;
}

std::shared_ptr<const std::vector<std::uint16_t>> drawn_for(const BanditConfig& world, const RaterConfig& judge, std::uint64_t key) {
  return draw_rollout_world(world, *fit_rollout_prior(world, judge), key);
}

const NumberRows four_groups = {{8, 7, 1, 9}, {3, 3}, {10, 10, 10, 10}, {5, 6, 5}};

}  // namespace

TEST_CASE("the mean quality of a response over seeds is its posterior score") {
  const BanditConfig world = world_of(four_groups);
  const RaterConfig judge = judge_word("veto");
  const auto shared = fit_rollout_prior(world, judge);
  constexpr int seeds = 600;
  std::vector<double> sum(16), squares(16);
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    const auto drawn = draw_rollout_world(world, *shared, derive_key(11, seed));
    REQUIRE(drawn->size() == 16);
    for (std::size_t i = 0; i < 16; ++i) {
      const double q = (*drawn)[i] / 16.0;
      REQUIRE((q >= 1 && q <= 10));
      sum[i] += q, squares[i] += q * q;
    }
    for (const std::size_t p : {1u, 3u})  // smaller groups have their completions again and again
      for (std::size_t a = four_groups[p].size(); a < 4; ++a) CHECK((*drawn)[p * 4 + a] == (*drawn)[p * 4 + a % four_groups[p].size()]);
  }
  QualityPosterior posterior(judge, 10, 1, 4);
  std::vector<std::vector<int>> seen;
  for (const auto& group : four_groups) {
    seen.emplace_back();
    for (const double level : group) seen.back().push_back(posterior.model().number_of(level));
  }
  const PriorFit fit(posterior, seen);
  const StatePrior prior(fit.fit(fit.start(), {}, prior_rounds));
  PosteriorGroup group(posterior.scores());
  for (std::size_t p = 0; p < 4; ++p) {
    std::vector<double> value(seen[p].size());
    group.values(posterior.scores(), prior, seen[p], value);
    for (std::size_t a = 0; a < value.size(); ++a) {
      const double mean = sum[p * 4 + a] / seeds, sd = std::sqrt(squares[p * 4 + a] / seeds - mean * mean);
      CHECK(sd > 0);
      CHECK(std::fabs(mean - value[a]) <= 4 * sd / std::sqrt(seeds));
    }
  }
}

TEST_CASE("one key gives one draw, and others differ") {
  const BanditConfig world = world_of(four_groups);
  const RaterConfig judge = judge_word("mixed");
  CHECK(*drawn_for(world, judge, 5) == *drawn_for(world, judge, 5));
  CHECK(*drawn_for(world, judge, 5) != *drawn_for(world, judge, 6));
  CHECK(*drawn_for(world, judge, 5) != *drawn_for(world, judge_word("s2"), 5));
}

TEST_CASE("the prior of a world of rollouts is fitted once for all seeds, and anew for other scores and judges") {
  RunCache cache;
  int fits = 0;
  const auto world_with = [&](std::uint64_t key, NumberRows groups, const char* judge) {
    RunSpec spec;
    spec.env.bandit = world_of(std::move(groups));
    spec.judge = judge_word(judge);
    spec.run_key = key;
    const auto fitted = cache.rollout_prior(rollout_prior_key(spec), [&] { return ++fits, fit_rollout_prior(spec.env.bandit, *spec.judge); });
    const auto own = fit_rollout_prior(spec.env.bandit, *spec.judge);
    CHECK(std::ranges::equal(fitted->prior.probability(), own->prior.probability()));
    CHECK(*draw_rollout_world(spec.env.bandit, *fitted, key) == *draw_rollout_world(spec.env.bandit, *own, key));
  };
  for (const std::uint64_t key : {1, 2, 3}) world_with(key, four_groups, "veto");
  CHECK(fits == 1);
  world_with(1, four_groups, "mixed");
  CHECK(fits == 2);
  world_with(1, {{8, 7, 1, 9}, {3, 3}}, "mixed");
  CHECK(fits == 3);
}

TEST_CASE("a bandit has the drawn qualities, and the features drawn for its prompts in the order of quality") {
  BanditConfig config = world_of(four_groups);
  config.feature_share = 1;
  WorldSource drawn, usual;
  drawn.drawn = std::make_shared<const std::vector<std::uint16_t>>(std::vector<std::uint16_t>{100, 90, 20, 120, 40, 48, 40, 48, 160, 150, 159, 140, 70, 90, 80, 70});
  const BanditWorld w = make_bandit(config, drawn, 77, true), other = make_bandit(config, usual, 77, true);
  double best = 0, uniform = 0;
  for (std::size_t p = 0; p < 4; ++p) {
    double most = 0;
    for (std::size_t a = 0; a < 4; ++a) {
      const std::uint16_t q = (*drawn.drawn)[p * 4 + a];
      CHECK(w.quality16[p * static_cast<std::size_t>(w.width) + a] == q);
      CHECK(w.quality[p * static_cast<std::size_t>(w.width) + a] == static_cast<float>(q / 16.0));
      CHECK(w.hack[p * static_cast<std::size_t>(w.width) + a] == 0);
      most = std::max(most, q / 16.0), uniform += q / 256.0;
    }
    best += most / 4;
  }
  CHECK(w.best == Approx(best));
  CHECK(w.uniform == Approx(uniform));
  // with feature_share = 1 quality increases along the hidden direction: the ranks of both worlds' features are those of their qualities
  const auto column = [](const BanditWorld& of, std::size_t p, std::size_t a) {
    std::vector<float> x;
    for (int f = 0; f < of.features; ++f) x.push_back(of.feature[(p * static_cast<std::size_t>(of.features) + static_cast<std::size_t>(f)) * static_cast<std::size_t>(of.width) + a]);
    return x;
  };
  const auto by_quality = [](const BanditWorld& of, std::size_t p) {
    std::vector<std::size_t> order = {0, 1, 2, 3};
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return of.quality16[p * static_cast<std::size_t>(of.width) + a] < of.quality16[p * static_cast<std::size_t>(of.width) + b]; });
    return order;
  };
  for (std::size_t p = 0; p < 4; ++p) {
    std::set<std::uint16_t> different;
    for (std::size_t a = 0; a < 4; ++a) different.insert(other.quality16[p * static_cast<std::size_t>(w.width) + a]);
    const auto mine = by_quality(w, p), theirs = by_quality(other, p);
    for (std::size_t rank = 0; rank < 4; ++rank)
      if (different.size() == 4) CHECK(column(w, p, mine[rank]) == column(other, p, theirs[rank]));
  }
}
