// Panels in the bandit: the votes of judges in turn against their rows one by one, on every instruction set.
#include <atomic>
#include <cmath>
#include <vector>

#include "envs/bandit/channel.hpp"
#include "envs/bandit/rate.hpp"
#include "envs/rater/latent_scale.hpp"
#include "kernels/random.hpp"
#include "tests/catch.hpp"
#include "tests/rounds.hpp"

using namespace odrpo;

namespace {

const std::atomic<bool> never{false};
constexpr std::uint64_t key = 20261123;
constexpr int prompts = 6, actions = 5, judges = 3, levels = 5;

RaterConfig panel() {
  LatentScale scale;
  scale.prompt_share = 0.3, scale.sigma = 0.3, scale.spread = 0.4, scale.judge_sigma = 0.5;
  set_thresholds(scale, {{-1, 0, 0.5, 1}, {-0.5, 0.5, 1, 1.5}, {-2, -1.5, -1, -0.5}});
  RaterConfig rater;
  rater.noise = {LatentNoise{scale}, LowOutliers{0.05, OutlierTarget::all}};
  rater.aggregate = Aggregate::mean;
  rater.sampling = Sampling::draws;
  return rater;
}

BanditWorld world_of(const RaterConfig& rater) {
  BanditConfig config;
  config.prompts = prompts, config.actions = actions, config.levels = levels, config.feature_share = 0;
  return make_bandit(config, resolve_source(config, rater), key, false);
}

/// The mean of all votes on each response by `rounds` ratings of the stage.
std::vector<double> rated_means(const BanditWorld& world, const RaterConfig& rater, int votes, int rounds, Isa isa) {
  DistributionCache distributions(rater, levels, 1);
  const RatedWorld rated = *rate_world(world, rater, votes, key, distributions, never);
  std::vector<std::uint32_t> prompt(prompts), scratch(static_cast<std::size_t>(actions) * ((votes + 3) / 4) * 4);
  std::vector<std::uint16_t> action(prompts * actions);
  for (int p = 0; p < prompts; ++p) {
    prompt[p] = static_cast<std::uint32_t>(p);
    for (int a = 0; a < actions; ++a) action[p * actions + a] = static_cast<std::uint16_t>(a);
  }
  const RateBatch batch{prompt.data(), action.data(), prompts, actions, world.width};
  std::vector<float> reward(prompts * actions);
  std::vector<std::uint8_t> score(prompts * actions);
  std::vector<double> mean(reward.size(), 0);
  for (int round = 0; round < rounds; ++round) {
    rate_stages(isa).by_draws(rated.view(), batch, random_stages(isa), key, Purpose::vote, static_cast<std::uint32_t>(round), 0,
                              scratch.data(), rated.real ? Seen{nullptr, reward.data()} : Seen{score.data(), nullptr});
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += (rated.real ? static_cast<double>(reward[i]) : score[i]) / rounds;
  }
  return mean;
}

/// Mean and variance of one call of the judge at `turn` about a response, by its definition.
std::pair<double, double> call_of(const BanditWorld& world, const Channel& channel, int p, int a, int turn) {
  const auto prompt = static_cast<std::uint32_t>(p), response = static_cast<std::uint32_t>(a);
  Traits t;
  t.quality = world.quality16[static_cast<std::size_t>(p) * world.width + a] / 16.0;
  t.judge = judge_in_turn(key, prompt, turn, judges);
  t.spread_class = static_cast<int>(draw(key, Purpose::trait_response, 0, prompt, response).x[0] >> 29);
  t.judge_class = static_cast<int>(draw(key, Purpose::trait_error, static_cast<std::uint32_t>(t.judge), prompt, response).x[0] >> 29);
  std::vector<double> row(levels);
  channel.row(t, row);
  double mean = 0, square = 0;
  for (int k = 0; k < levels; ++k) mean += (k + 1) * row[k], square += (k + 1) * (k + 1) * row[k];
  return {mean, square - mean * mean};
}

}  // namespace

TEST_CASE("votes of a panel are calls of its judges in turn", "[panel][slow]") {
  const RaterConfig rater = panel();
  const BanditWorld world = world_of(rater);
  const Channel channel(rater.noise, levels);
  const int ratings = rounds(400, 1500);
  for (const int votes : {1, 2, 3, 4, 7}) {
    const std::vector<double> seen = rated_means(world, rater, votes, ratings, best_isa());
    double apart = 0;  // from what the first judge alone would say
    for (int p = 0; p < prompts; ++p)
      for (int a = 0; a < actions; ++a) {
        double mean = 0, variance = 0;
        for (int v = 0; v < votes; ++v) {
          const auto [m, s2] = call_of(world, channel, p, a, v);
          mean += m / votes;
          variance += s2 / votes / votes;
        }
        INFO("votes " << votes << ", prompt " << p << ", response " << a);
        CHECK(std::abs(seen[p * actions + a] - mean) < 4.5 * std::sqrt(variance / ratings) + 1e-5);
        apart = std::max(apart, std::abs(mean - call_of(world, channel, p, a, 0).first));
      }
    if (votes > 1) CHECK(apart > 0.3);
    for (const Isa isa : {Isa::portable, Isa::avx2})
      if (has_isa(isa)) CHECK(rated_means(world, rater, votes, 20, isa) == rated_means(world, rater, votes, 20, Isa::portable));
  }
}

TEST_CASE("calls of a panel whose judges are drawn anew are the mixture of its judges", "[panel][slow]") {
  RaterConfig rater = panel();
  rater.order = JudgeOrder::random;
  const BanditWorld world = world_of(rater);
  const Channel channel(rater.noise, levels);
  const int ratings = rounds(600, 2000);
  for (const int votes : {1, 2, 6}) {
    const std::vector<double> seen = rated_means(world, rater, votes, ratings, best_isa());
    for (int p = 0; p < prompts; ++p)
      for (int a = 0; a < actions; ++a) {
        double mean = 0, squares = 0;
        for (int j = 0; j < judges; ++j) {
          const auto [m, s2] = call_of(world, channel, p, a, j);
          mean += m / judges;
          squares += (s2 + m * m) / judges;
        }
        INFO("votes " << votes << ", prompt " << p << ", response " << a);
        CHECK(std::abs(seen[p * actions + a] - mean) < 4.5 * std::sqrt((squares - mean * mean) / votes / ratings) + 1e-5);
      }
    for (const Isa isa : {Isa::portable, Isa::avx2})
      if (has_isa(isa)) CHECK(rated_means(world, rater, votes, 20, isa) == rated_means(world, rater, votes, 20, Isa::portable));
  }
}

TEST_CASE("a panel's first judge is a hash of the prompt, and every judge begins somewhere", "[panel]") {
  std::vector<int> first(judges, 0);
  for (std::uint32_t p = 0; p < 3000; ++p) {
    const int j = judge_in_turn(key, p, 0, judges);
    REQUIRE((j >= 0 && j < judges));
    CHECK(j == static_cast<int>(uniform_below(draw(key, Purpose::trait_judge, 0, p, 0).x[0], judges)));  // words of no other trait
    ++first[j];
    for (int turn = 1; turn < 7; ++turn) CHECK(judge_in_turn(key, p, turn, judges) == (j + turn) % judges);
  }
  for (const int n : first) CHECK(std::abs(n - 1000) < 120);
  CHECK(judge_in_turn(key, 7, 0, 1) == 0);
}

TEST_CASE("the world of a latent scale has its share of prompts, and features that explain the rest", "[panel]") {
  RaterConfig rater = panel();
  BanditConfig config;
  config.prompts = 2000, config.actions = 16, config.levels = levels;
  const WorldSource source = resolve_source(config, rater);
  const BanditWorld world = make_bandit(config, source, key, true);
  double sum = 0, squares = 0, between = 0;
  for (int p = 0; p < config.prompts; ++p) {
    double of_prompt = 0;
    for (int a = 0; a < config.actions; ++a) {
      const double x = source.curve->place(world.quality[static_cast<std::size_t>(p) * world.width + a]);
      sum += x, squares += x * x, of_prompt += x;
    }
    between += of_prompt * of_prompt / config.actions;
  }
  const double n = static_cast<double>(config.prompts) * config.actions, total = squares - sum * sum / n;
  CHECK(sum / n == Approx(0).margin(0.05));
  CHECK(total / n == Approx(1).margin(0.05));              // the grid of quality keeps places but for what rounds to one point
  const double share = (between - sum * sum / n) / total;  // of prompts, and 1 / actions of the rest
  CHECK(share == Approx(0.3 + 0.7 / config.actions).margin(0.03));
}
