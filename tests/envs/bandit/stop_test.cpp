// Raters that stop early in the bandit: literal calls against their definition, their distribution, and the calls that it expects.
#include <cmath>
#include <map>
#include <vector>

#include "envs/rater/vote.hpp"
#include "kernels/shared/words.hpp"
#include "tests/envs/bandit/law_draws.hpp"

using namespace odrpo;
using namespace distribution_draws;

namespace {

constexpr std::uint64_t key = 20261127;

RaterConfig panel() {
  LatentScale scale;
  scale.sigma = 0.4, scale.judge_sigma = 0.3;
  set_thresholds(scale, {{-1, 0, 0.5, 1}, {-0.5, 0.5, 1, 1.5}, {-2, -1.5, -1, -0.5}});
  RaterConfig rater;
  rater.noise = {LatentNoise{scale}};
  return rater;
}

/// All (prompt, response) of a world, rated by literal calls of a rater.
struct Rated {
  BanditWorld world;
  RatedWorld rated;
  std::vector<std::uint32_t> prompt = {};
  std::vector<std::uint16_t> action = {};

  Rated(const RaterConfig& rater, int votes, int levels) {
    BanditConfig c;
    c.prompts = 6, c.actions = 5, c.levels = levels, c.feature_share = 0;
    world = make_bandit(c, resolve_source(c, rater), key, false);
    DistributionCache distributions(rater, levels, 1);
    rated = *rate_world(world, rater, votes, key, distributions, never);
    for (int p = 0; p < c.prompts; ++p) {
      prompt.push_back(static_cast<std::uint32_t>(p));
      for (int a = 0; a < c.actions; ++a) action.push_back(static_cast<std::uint16_t>(a));
    }
  }
  double rate(Isa isa, std::uint32_t step, std::vector<std::uint8_t>& score) const {
    score.assign(action.size(), 0);
    std::vector<std::uint32_t> scratch(static_cast<std::size_t>(world.actions) * ((rated.votes + 3) / 4) * 4);
    const RateBatch batch{prompt.data(), action.data(), world.prompts, world.actions, world.width};
    return rate_stages(isa).by_draws(rated.view(), batch, random_stages(isa), key, Purpose::vote, step, 0, scratch.data(),
                                     {score.data(), nullptr});
  }
  std::size_t cell(std::size_t i) const { return prompt[i / world.actions] * static_cast<std::size_t>(world.width) + action[i]; }
};

}  // namespace

TEST_CASE("stop: literal calls have the words that they have without it, and end in the order of draws") {
  CAPTURE(key);
  int early = 0, late = 0;
  for (const bool judges : {false, true})
    for (const ParsePolicy policy : {ParsePolicy::resample, ParsePolicy::drop, ParsePolicy::zero})
      for (const TieRule tie : {TieRule::first, TieRule::nearest_mean})
        for (const auto& [votes, stop] : {std::pair{5, 2}, {8, 3}, {9, 0}, {3, 3}, {3, 7}}) {
          RaterConfig rater = judges ? panel() : rater_presets()[2].config;
          rater.sampling = Sampling::draws;
          rater.tie = tie;
          rater.parse_failure = 0.3;
          rater.parse_policy = policy;
          rater.stop = stop;
          const Rated all(rater, votes, judges ? 5 : 10);
          CHECK(all.rated.stop == (stop < votes ? stop : 0));
          CHECK(all.rated.calls.empty() == (judges || stop == 0 || stop >= votes));
          const int blocks = (votes + 3) / 4;
          for (std::uint32_t step = 0; step < 40; ++step) {
            std::vector<std::uint8_t> want;
            double made = 0;
            for (std::size_t i = 0; i < all.action.size(); ++i) {
              std::vector<int> heard;
              std::map<int, int> given;
              int v = 0;
              while (v < votes) {
                const auto rollout = static_cast<std::uint32_t>(i % all.world.actions);
                const Words4 word = draw(key, Purpose::vote, step, all.prompt[i / all.world.actions],
                                         rollout * static_cast<std::uint32_t>(blocks) + static_cast<std::uint32_t>(v / 4));
                const std::size_t turn = static_cast<std::size_t>(v % all.rated.turns) * all.rated.view().turn_rows;
                const std::int32_t* threshold = all.rated.threshold.data() + all.rated.row[turn + all.cell(i)];
                const auto x = static_cast<std::int32_t>(word.x[v % 4] >> 1);
                const int outcome =
                    static_cast<int>(std::count_if(threshold, threshold + all.rated.stride, [x](std::int32_t t) { return x > t; }));
                ++v;
                if (outcome == all.rated.missing) continue;
                heard.push_back(all.rated.lowest + outcome);
                if (++given[heard.back()] == stop && stop > 0) break;
              }
              (v < votes ? early : late) += 1;
              made += v;
              want.push_back(heard.empty() ? no_score : static_cast<std::uint8_t>(vote(heard, tie)));
            }
            CAPTURE(judges, votes, stop, step);
            for (const Isa isa : {Isa::portable, Isa::avx2}) {
              if (!has_isa(isa)) continue;
              std::vector<std::uint8_t> score;
              CHECK(all.rate(isa, step, score) == made);
              REQUIRE(score == want);
            }
          }
        }
  CHECK(early > 5000);
  CHECK(late > 5000);
}

TEST_CASE("stop: law = draws by chi-square, for every tie rule and parse policy") {
  CAPTURE(key);
  const BanditWorld w = small_world(key);
  const int rounds = 2000;
  double z_sum = 0, z_worst = 0;
  int tests = 0;
  std::uint64_t number = 0;
  for (const auto& [votes, stop] : {std::pair{4, 2}, {8, 3}, {16, 2}})
    for (const Word<TieRule>& tie : tie_words)
      for (const int parsing : {0, 1, 2, 3}) {
        RaterConfig rater = rater_presets()[2].config;  // wide
        rater.noise.push_back(UniformFlip{0.3});
        rater.tie = tie.value;
        rater.stop = stop;
        rater.parse_failure = parsing == 0 ? 0 : 0.3;
        rater.parse_policy = parsing == 2 ? ParsePolicy::drop : parsing == 3 ? ParsePolicy::zero : ParsePolicy::resample;
        const Agreement both = agreement(rate_often(w, rater, votes, Sampling::law, rounds, key + number),
                                         rate_often(w, rater, votes, Sampling::draws, rounds, key + number), rounds);
        ++number;
        CAPTURE(votes, stop, tie.word, parsing, both.z());
        CHECK(both.z() < 4);
        z_sum += both.z(), z_worst = std::max(z_worst, both.z());
        ++tests;
      }
  CAPTURE(tests, z_worst);
  CHECK(std::abs(z_sum / tests) < 0.6);
  // and it is not the distribution without `stop`
  RaterConfig rater = rater_presets()[2].config, all = rater;
  rater.noise.push_back(UniformFlip{0.3}), all.noise = rater.noise;
  rater.stop = 2;
  CHECK(agreement(rate_often(w, rater, 8, Sampling::draws, rounds, 1), rate_often(w, all, 8, Sampling::law, rounds, 1), rounds).z() > 5);
}

TEST_CASE("stop: the calls that a row expects are those that are made, on the mean") {
  CAPTURE(key);
  const int rounds = 3000;
  for (const ParsePolicy policy : {ParsePolicy::resample, ParsePolicy::drop, ParsePolicy::zero})
    for (const auto& [votes, stop] : {std::pair{8, 2}, {8, 3}, {12, 5}}) {
      RaterConfig rater = rater_presets()[2].config;
      rater.sampling = Sampling::draws;
      rater.parse_failure = 0.2;
      rater.parse_policy = policy;
      rater.stop = stop;
      const Rated all(rater, votes, 10);
      double expected = 0, sum = 0, squares = 0;
      for (std::size_t i = 0; i < all.action.size(); ++i) expected += all.rated.calls_of(all.cell(i));
      std::vector<std::uint8_t> score;
      for (int round = 0; round < rounds; ++round) {
        const double made = all.rate(best_isa(), static_cast<std::uint32_t>(round), score);
        sum += made, squares += made * made;
      }
      const double mean = sum / rounds, error = std::sqrt((squares / rounds - mean * mean) / rounds);
      CAPTURE(static_cast<int>(policy), votes, stop, mean, expected, error);
      CHECK(std::abs(mean - expected) < 4.5 * error);
      CHECK(expected < 0.9 * votes * static_cast<double>(all.action.size()));
      // by distribution the rows expect the same
      rater.sampling = Sampling::law;
      DistributionCache distributions(rater, 10, votes);
      const RatedWorld by_distribution = *rate_world(all.world, rater, votes, key, distributions, never);
      for (std::size_t i = 0; i < all.action.size(); ++i) CHECK(by_distribution.calls_of(all.cell(i)) == all.rated.calls_of(all.cell(i)));
    }
}
