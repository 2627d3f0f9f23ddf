// The model of single calls: against the model of one score, and against votes that raters give in their worlds.
#include <algorithm>
#include <cmath>

#include "envs/bandit/believed.hpp"
#include "envs/bandit/channel.hpp"
#include "envs/bandit/rate.hpp"
#include "kernels/random.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"
#include "tests/preset.hpp"
#include "tests/rounds.hpp"

using namespace odrpo;

namespace {

RaterConfig asking(std::string_view word, Aggregate aggregate = Aggregate::all) {
  RaterConfig rater = preset(word);
  rater.aggregate = aggregate;
  return rater;
}

double share_of(const CallModel& m, std::size_t state, std::size_t response) {
  const std::size_t lanes = CallModel::lanes;
  if (m.of_world()) return m.share[(state / lanes * m.responses() + response) * lanes + state % lanes];
  for (const CallModel::Run& run : m.runs)
    if (run.response == response && run.first <= state && state < run.first + run.count) return m.share[run.offset + state - run.first];
  return 0;
}

double call_of(const CallModel& m, int judge, int score, int of_class, int trait, std::size_t response) {
  const std::size_t kind = static_cast<std::size_t>(of_class * m.traits + trait);
  return m.call[(static_cast<std::size_t>(judge * m.scores + score) * static_cast<std::size_t>(m.classes * m.traits) + kind) * m.width +
                response];
}

/// P(first vote, second vote) of one response over the world's prompts, by the model. The first judge is any.
std::vector<double> pair_distribution(const CallModel& m) {
  std::vector<double> weight(m.responses()), distribution(static_cast<std::size_t>(m.scores * m.scores));
  for (std::size_t c = 0; c < m.states(); ++c)
    for (std::size_t r = 0; r < m.responses(); ++r) weight[r] += m.prompts.prior[c] * share_of(m, c, r);
  for (std::size_t r = 0; r < m.responses(); ++r)
    for (int t = 0; t < m.traits; ++t)
      for (int j = 0; j < m.judges; ++j) {
        const int next = (j + 1) % m.judges;
        std::vector<double> a(static_cast<std::size_t>(m.scores)), b(a);
        for (int u = 0; u < m.classes; ++u)
          for (int k = 0; k < m.scores; ++k) {
            a[static_cast<std::size_t>(k)] += call_of(m, j, k, u, t, r) / m.classes;
            b[static_cast<std::size_t>(k)] += call_of(m, next, k, u, t, r) / m.classes;
          }
        for (int k = 0; k < m.scores; ++k)
          for (int l = 0; l < m.scores; ++l) {
            double p = a[static_cast<std::size_t>(k)] * b[static_cast<std::size_t>(l)];
            if (next == j) {  // the same judge errs as before
              p = 0;
              for (int u = 0; u < m.classes; ++u) p += call_of(m, j, k, u, t, r) * call_of(m, j, l, u, t, r) / m.classes;
            }
            distribution[static_cast<std::size_t>(k * m.scores + l)] += weight[r] * m.trait[static_cast<std::size_t>(t)] * p / m.judges;
          }
      }
  return distribution;
}

/// The same by the votes that raters give.
std::vector<double> pairs_seen(const RaterConfig& rater, const BanditConfig& config, int scores, int worlds) {
  std::vector<double> distribution(static_cast<std::size_t>(scores * scores));
  double total = 0;
  RaterConfig by_draws = rater;
  by_draws.sampling = Sampling::draws;
  for (int w = 0; w < worlds; ++w) {
    const std::uint64_t key = derive_key(29, static_cast<std::uint32_t>(w));
    const BanditWorld world = make_bandit(config, resolve_source(config, rater), key, false);
    DistributionCache distributions(by_draws, config.levels, 1);
    const std::atomic<bool> never{false};
    const RatedWorld rated = *rate_world(world, by_draws, 2, key, distributions, never);
    std::vector<std::uint32_t> prompt(static_cast<std::size_t>(config.prompts));
    std::vector<std::uint16_t> action;
    for (std::uint32_t p = 0; p < prompt.size(); ++p) {
      prompt[p] = p;
      for (int a = 0; a < config.actions; ++a) action.push_back(static_cast<std::uint16_t>(a));
    }
    std::vector<std::uint8_t> score(2 * action.size());
    std::vector<std::uint32_t> scratch(static_cast<std::size_t>(config.actions) * 4);
    const RateBatch batch{prompt.data(), action.data(), config.prompts, config.actions, world.width};
    rate_stages(best_isa())
        .by_draws(rated.view(), batch, random_stages(best_isa()), key, Purpose::vote, 0, 0, scratch.data(), {score.data(), nullptr});
    for (std::size_t i = 0; i < score.size(); i += 2) {
      if (score[i] == no_score || score[i + 1] == no_score) continue;
      distribution[static_cast<std::size_t>((score[i] - rated.lowest) * scores + score[i + 1] - rated.lowest)] += 1;
      total += 1;
    }
  }
  for (double& p : distribution) p /= total;
  return distribution;
}

void check_pairs(const RaterConfig& rater, BanditConfig config, const PromptGrid& grid = {}) {
  const int worlds = rounds(6, 12);
  config.prompts = 512;
  config.actions = 16;
  const CallModel m = make_call_model(rater, resolve_source(config, rater), config.levels, 2, grid);
  const std::vector<double> of_model = pair_distribution(m), seen = pairs_seen(rater, config, m.scores, worlds);
  const double all = has_gaps(rater) ? std::pow(1 - rater.parse_failure, 2) : 1;  // that both can be read
  double distance = 0, same_model = 0, same_seen = 0;
  for (int k = 0; k < m.scores; ++k)
    for (int l = 0; l < m.scores; ++l) {
      const std::size_t at = static_cast<std::size_t>(k * m.scores + l);
      distance += std::fabs(of_model[at] / all - seen[at]);
      if (k == l) same_model += of_model[at] / all, same_seen += seen[at];
    }
  // 24 x 512 prompts: a share of .1 of prompts has an error of .003; twice as much for a quarter of them
  CHECK(distance < 0.06 * std::sqrt(24.0 / worlds));
  CHECK(same_model == Approx(same_seen).margin(0.01 * std::sqrt(24.0 / worlds)));
}

}  // namespace

TEST_CASE("single calls of the model of all votes are the model of one score") {
  for (const char* word : {"mixed", "veto", "wide", "s2", "flip10", "panel-essays", "panel-dialogue"}) {
    INFO(word);
    const RaterConfig rater = asking(word);
    BanditConfig config;
    if (rater_levels(rater) > 0) config.levels = rater_levels(rater);
    const WorldSource source = resolve_source(config, rater);
    const CallModel calls = make_call_model(rater, source, config.levels, 8);
    const ScoreModel scores = make_score_model(rater, source, config.levels, 1);
    REQUIRE(calls.states() == scores.states());
    CHECK(calls.judges == (std::string_view(word).starts_with("panel") ? panel_size(rater.noise) : 1));
    for (std::size_t c = 0; c < calls.states(); c += 17) {
      CHECK(calls.prompts.prior[c] == scores.prompts.prior[c]);
      for (int k = 0; k < calls.scores; ++k) {
        double p = 0;
        for (std::size_t r = 0; r < calls.responses(); ++r)
          for (int j = 0; j < calls.judges; ++j)
            for (int u = 0; u < calls.classes; ++u)
              for (int t = 0; t < calls.traits; ++t)
                p += share_of(calls, c, r) * calls.trait[static_cast<std::size_t>(t)] * call_of(calls, j, k, u, t, r) / calls.judges /
                     calls.classes;
        CHECK(p == Approx(scores.likelihood[c * static_cast<std::size_t>(scores.scores) + static_cast<std::size_t>(k)]).margin(1e-10));
      }
    }
  }
}

TEST_CASE("two votes of a response have the law that the model says", "[slow]") {
  const BanditConfig config;
  for (const char* word : {"mixed", "veto", "low20"}) {
    INFO(word);
    check_pairs(asking(word), config);
  }
  RaterConfig rater = asking("mixed");
  rater.noise.push_back(SharedBias{.sd = 0.7});
  check_pairs(rater, config);
  for (const ParsePolicy policy : {ParsePolicy::resample, ParsePolicy::drop, ParsePolicy::zero}) {
    rater = asking("mixed");
    rater.parse_failure = 0.2;
    rater.parse_policy = policy;
    check_pairs(rater, config);
  }
  for (const char* word : {"panel-essays", "panel-dialogue"})
    for (const JudgeOrder order : {JudgeOrder::turn, JudgeOrder::random}) {
      INFO(word << " order " << static_cast<int>(order));
      rater = asking(word);
      rater.order = order;
      // two calls that draw the same judge share its lasting error, which the model of a mean judge leaves out
      if (order == JudgeOrder::random) std::get<LatentNoise>(rater.noise[0]).scale.judge_sigma = 0;
      BanditConfig scale;
      scale.levels = rater_levels(rater);
      check_pairs(rater, scale);
    }
}

TEST_CASE("responses of a file: each state has its prompt's laws, for every judge") {
  auto file = std::make_shared<ScoredResponses>();
  file->levels = 3;
  file->judges = 2;
  file->distributions = {1, 0, 0, 0, 1, 0, 0, 0.5, 0.5, 0, 0, 1};
  file->first = {0, 2, 3};
  file->distribution = {0, 1, 1};
  WorldSource source;
  source.responses = file;
  RaterConfig rater;
  rater.aggregate = Aggregate::all;
  rater.noise = {ResampleNoise{file}};
  const CallModel m = make_call_model(rater, source, 3, 4);
  REQUIRE(m.states() == 2);
  REQUIRE(m.judges == 2);
  CHECK_FALSE(m.of_world());
  for (std::size_t c = 0; c < 2; ++c)
    for (std::size_t r = 0; r < 2; ++r) {
      const bool both = share_of(m, c, 0) > 0;
      CHECK(share_of(m, c, r) == Approx(both ? 0.5 : r == 1 ? 1.0 : 0.0));
    }
  CHECK(call_of(m, 0, 0, 0, 0, 0) == 1);
  CHECK(call_of(m, 1, 1, 0, 0, 0) == 1);
  CHECK(call_of(m, 0, 1, 0, 0, 1) == 0.5);
  CHECK(call_of(m, 1, 2, 0, 0, 1) == 1);
}

TEST_CASE("a judge's lasting error counts as one where the judge is asked again, and tables that are too large are refused") {
  RaterConfig rater = asking("panel-essays");
  std::get<LatentNoise>(rater.noise[0]).scale.judge_sigma = 0.5;
  BanditConfig config;
  config.levels = rater_levels(rater);
  const int judges = panel_size(rater.noise);
  const WorldSource source = resolve_source(config, rater);
  CHECK(make_call_model(rater, source, config.levels, judges).classes == 1);
  CHECK(make_call_model(rater, source, config.levels, judges + 1).classes == trait_classes);
  rater = asking("mixed");
  rater.noise.push_back(SharedBias{.sd = 0.7});
  rater.noise.push_back(SeverityOffset{.sd = 0.7});
  config.levels = 100;
  CHECK_THROWS_AS(make_call_model(rater, resolve_source(config, rater), 100, 8), Failure);
}
