// The model of a judge against worlds and raters themselves: how often each score is given, and what quality it then has.
#include <cmath>

#include "envs/bandit/believed.hpp"
#include "envs/bandit/channel.hpp"
#include "envs/bandit/rate.hpp"
#include "kernels/random.hpp"
#include "tests/catch.hpp"
#include "tests/preset.hpp"
#include "tests/rounds.hpp"

using namespace odrpo;

namespace {

/// P(score) and E[quality | score] over worlds, by the exact distributions of their responses: [scores] each.
struct ByScore {
  std::vector<double> share, quality;
};
ByScore seen_in_worlds(const RaterConfig& rater, const BanditConfig& config, int votes, const ScoreModel& numbers, int worlds) {
  ByScore seen{std::vector<double>(static_cast<std::size_t>(numbers.scores)), {}};
  seen.quality = seen.share;
  double total = 0;
  for (int w = 0; w < worlds; ++w) {
    const std::uint64_t key = derive_key(17, static_cast<std::uint32_t>(w));
    const BanditWorld world = make_bandit(config, resolve_source(config, rater), key, false);
    DistributionCache distributions(rater, config.levels, votes);
    const std::atomic<bool> never{false};
    const RatedWorld rated = *rate_world(world, rater, votes, key, distributions, never);
    for (int p = 0; p < world.prompts; ++p)
      for (int a = 0; a < world.actions; ++a) {
        const std::size_t cell = static_cast<std::size_t>(p) * world.width + a;
        const double q = world.quality16[cell] / 16.0;
        if (!rated.expected.empty()) {
          const auto k = static_cast<std::size_t>(numbers.number_of(static_cast<double>(rated.expected[cell])));
          seen.share[k] += 1, seen.quality[k] += q;
          total += 1;
          continue;
        }
        // thresholds of 31 bits: P(outcome <= k)
        double before = 0;
        const int outcomes = distributions.outcomes().count;
        for (int o = 0; o < outcomes; ++o) {
          const double upto = o + 1 < outcomes ? (rated.threshold[rated.row[cell] + static_cast<std::size_t>(o)] + 1.0) / 2147483648.0 : 1;
          const double mass = upto - before;
          before = upto;
          total += mass;
          if (o == distributions.outcomes().missing) continue;
          const double score = rated.value.empty() ? rated.lowest + o : static_cast<double>(rated.value[o]);
          const auto k = static_cast<std::size_t>(numbers.number_of(score));
          seen.share[k] += mass, seen.quality[k] += mass * q;
        }
      }
  }
  for (std::size_t k = 0; k < seen.share.size(); ++k) {
    if (seen.share[k] > 0) seen.quality[k] /= seen.share[k];
    seen.share[k] /= total;
  }
  return seen;
}

/// A question to a judge about a world.
struct Question {
  std::string what;
  RaterConfig rater;
  BanditConfig config;
  int votes = 1;
  PromptGrid grid;
  bool always = false;  ///< also in the short test: one of each kind
};

void check_against_worlds(const Question& question, int worlds) {
  const auto& [what, rater, wanted, votes, grid, always] = question;
  INFO(what);
  BanditConfig config = wanted;
  config.prompts = 512;
  config.actions = 16;
  const ScoreModel m = make_score_model(rater, resolve_source(config, rater), config.levels, votes, grid);
  double prior = 0;
  for (const double p : m.prompts.prior) prior += p;
  CHECK(prior == Approx(1).epsilon(1e-12));
  const std::size_t scores = static_cast<std::size_t>(m.scores);
  std::vector<double> share(scores), quality(scores);
  for (std::size_t c = 0; c < m.states(); ++c) {
    double sum = 0;
    for (std::size_t k = 0; k < scores; ++k) {
      sum += m.likelihood[c * scores + k];
      share[k] += m.prompts.prior[c] * m.likelihood[c * scores + k];
      quality[k] += m.prompts.prior[c] * m.likelihood[c * scores + k] * m.expected[c * scores + k];
    }
    if (!has_gaps(rater)) CHECK(sum == Approx(1).epsilon(1e-9));
    else CHECK(sum <= 1 + 1e-9);
  }
  const ByScore seen = seen_in_worlds(rater, config, votes, m, worlds);
  // of 48 x 512 prompts: their centres alone have an error of 1.8 / sqrt(24576) = .011 levels, and of those that get a score often below .02
  double distance = 0;
  for (std::size_t k = 0; k < scores; ++k) {
    distance += std::fabs(share[k] - seen.share[k]);
    if (seen.share[k] < 0.02) continue;
    CHECK(quality[k] / share[k] == Approx(seen.quality[k]).margin(0.08));
  }
  CHECK(distance < 0.04);
}

std::vector<Question> questions() {
  std::vector<Question> all;
  const auto with = [&](std::string what, std::string_view word, auto change, bool always = false, int votes = 1) {
    Question question{std::move(what), preset(word), {}, votes, {}, always};
    change(question);
    all.push_back(std::move(question));
  };
  const auto as_is = [](Question&) {};
  for (const char* word : {"mixed", "veto", "wide", "low20", "s2", "flip10"}) with(word, word, as_is, std::string_view(word) == "veto");
  for (const Aggregate a : {Aggregate::mode, Aggregate::median, Aggregate::mean})
    with("five votes", "mixed", [&](Question& q) { q.rater.aggregate = a; }, a == Aggregate::mean, 5);
  with("five votes, stopped by two equal ones", "mixed", [](Question& q) { q.rater.aggregate = Aggregate::mode, q.rater.stop = 2; }, true, 5);
  for (const ParsePolicy policy : {ParsePolicy::resample, ParsePolicy::drop, ParsePolicy::zero})
    for (const int votes : {1, 3})
      with("answers that cannot be read", "mixed", [&](Question& q) { q.rater.parse_failure = 0.2, q.rater.parse_policy = policy; },
           policy == ParsePolicy::drop && votes == 3, votes);
  for (const char* word : {"panel-essays", "panel-dialogue"})
    with(word, word, [](Question& q) { q.config.levels = rater_levels(q.rater); }, std::string_view(word) == "panel-essays");
  with("integer quality", "mixed", [](Question& q) { q.config.quality = QualityKind::integer, q.grid.qualities_per_level = 1; }, true);
  with("other levels", "mixed", [](Question& q) { q.config.levels = 5; });
  with("a world of its own", "mixed", [](Question& q) { q.config.overrides.mean = 4, q.config.overrides.spread_sd = 0; }, true);
  with("a shared error", "mixed", [](Question& q) { q.rater.noise.push_back(SharedBias{.sd = 0.7}); });
  with("severity towards a prompt", "mixed", [](Question& q) { q.rater.noise.push_back(SeverityOffset{.sd = 0.7}); }, true);
  return all;
}

}  // namespace

TEST_CASE("score models agree with the worlds and raters that they are of: one question of each kind") {
  for (const Question& question : questions())
    if (question.always) check_against_worlds(question, 12);
}

TEST_CASE("score models agree with the worlds and raters that they are of: all questions", "[.slow]") {
  for (const Question& question : questions()) check_against_worlds(question, rounds(12, 48));
}

TEST_CASE("score models of expected scores") {
  RaterConfig rater = preset("mixed");
  rater.aggregate = Aggregate::expected;
  BanditConfig config;
  config.prompts = 256;
  const ScoreModel m = make_score_model(rater, resolve_source(config, rater), 10, 1);
  CHECK(m.per_level == 32);
  const ByScore seen = seen_in_worlds(rater, config, 1, m, 8);
  // finer than what there is to see: compare at whole levels
  for (int level = 3; level <= 9; ++level) {
    double of_model = 0, of_worlds = 0;
    for (std::size_t c = 0; c < m.states(); ++c)
      for (int k = 32 * (level - 1) - 16; k < 32 * (level - 1) + 16; ++k)
        of_model += m.prompts.prior[c] * m.likelihood[c * static_cast<std::size_t>(m.scores) + static_cast<std::size_t>(k)];
    for (int k = 32 * (level - 1) - 16; k < 32 * (level - 1) + 16; ++k) of_worlds += seen.share[static_cast<std::size_t>(k)];
    CHECK(of_model == Approx(of_worlds).margin(0.02));
  }
}

TEST_CASE("states told by moments are the world again") {
  const RaterConfig& rater = preset("mixed");
  const BanditConfig config;
  PromptGrid grid;
  const ScoreModel nodes = make_score_model(rater, resolve_source(config, rater), 10, 1, grid);
  grid.moments = true;
  const ScoreModel even = make_score_model(rater, resolve_source(config, rater), 10, 1, grid);
  CHECK(even.square.size() == even.expected.size());
  CHECK(even.prompts.moments.mean == Approx(7.2));
  CHECK(even.prompts.moments.variance == Approx(1.8 * 1.8));
  CHECK(even.prompts.moments.square == Approx(0.64 * std::exp(2 * 0.16)));
  double total = 0;
  std::vector<double> weight;
  const double t = even.prompts.log_spread_sd, middle = 0.5 * std::log(even.prompts.moments.square) - t * t;
  for (std::size_t c = 0; c < even.states(); ++c) {
    const double b = (even.prompts.centre[c] - even.prompts.moments.mean) / 1.8, s = (even.prompts.log_spread[c] - middle) / t;
    total += weight.emplace_back(std::exp(-(b * b + s * s) / 2));
  }
  for (std::size_t k = 0; k < 10; ++k) {
    double a = 0, b = 0;
    for (std::size_t c = 0; c < nodes.states(); ++c) a += nodes.prompts.prior[c] * nodes.likelihood[c * 10 + k];
    for (std::size_t c = 0; c < even.states(); ++c) b += weight[c] / total * even.likelihood[c * 10 + k];
    CHECK(a == Approx(b).margin(2e-3));
  }
}

TEST_CASE("responses of a file: its prompts are the states") {
  auto file = std::make_shared<ScoredResponses>();
  file->levels = 3;
  file->distributions = {1, 0, 0, 0, 0.5, 0.5, 0, 0, 1, 0.2, 0.2, 0.6};
  file->first = {0, 2, 4};
  file->distribution = {0, 1, 3, 2};
  WorldSource source;
  source.responses = file;
  RaterConfig rater;
  rater.noise = {ResampleNoise{file}};
  const ScoreModel m = make_score_model(rater, source, 3, 1);
  REQUIRE(m.states() == 2);
  CHECK(m.prompts.prior[0] == Approx(0.5));
  CHECK(m.likelihood[0] == Approx(0.5));  // the first prompt: 1, or 2 and 3
  CHECK(m.likelihood[1] == Approx(0.25));
  CHECK(m.expected[0] == Approx(1));
  CHECK(m.expected[1] == Approx(2.5));
  CHECK(m.likelihood[3] == Approx(0.1));
  CHECK(m.likelihood[5] == Approx(0.8));
  CHECK(m.expected[5] == Approx((0.5 * 3 + 0.3 * 2.4) / 0.8));
  PromptGrid grid;
  grid.spread_scales = {1, 0.5};
  const ScoreModel best = make_score_model(rater, source, 3, 1, grid);
  REQUIRE(best.states() == 4);
  CHECK(best.likelihood[3 * 1 + 0] == 0);  // the better half of the first prompt's responses never gets a 1
  CHECK(best.prompts.prior[1] == Approx(0.25));
}

TEST_CASE("score model: the channel of whole levels is that of worlds of whole quality") {
  for (const char* word : {"mixed", "veto", "s2"})
    for (const int votes : {1, 4}) {
      CAPTURE(word, votes);
      const RaterConfig& rater = preset(word);
      std::vector<double> channel(100, 0.0);
      for (const LevelChannel& kind : level_channels(rater, 10, votes))
        for (std::size_t i = 0; i < 100; ++i) channel[i] += kind.weight * kind.probability[i];
      BanditConfig config;
      config.quality = QualityKind::integer;
      std::vector<double> seen(100, 0.0), cells(10, 0.0), distribution(10);
      for (int w = 0; w < 8; ++w) {
        const std::uint64_t key = derive_key(18, static_cast<std::uint32_t>(w));
        const BanditWorld world = make_bandit(config, resolve_source(config, rater), key, false);
        DistributionCache distributions(rater, 10, votes);
        const std::atomic<bool> never{false};
        const RatedWorld rated = *rate_world(world, rater, votes, key, distributions, never);
        for (int p = 0; p < world.prompts; ++p)
          for (int a = 0; a < world.actions; ++a) {
            const std::size_t cell = static_cast<std::size_t>(p) * world.width + a;
            const auto j = static_cast<std::size_t>(world.quality16[cell] / 16 - 1);
            distribution_of_row(rated, rated.row[cell], distribution);
            cells[j] += 1;
            for (std::size_t k = 0; k < 10; ++k) seen[j * 10 + k] += distribution[k];
          }
      }
      for (std::size_t j = 0; j < 10; ++j) {
        double total = 0;
        for (std::size_t k = 0; k < 10; ++k) {
          total += channel[j * 10 + k];
          // classes of sigma are of prompts, 2048 of them, and of vetoes of responses
          if (cells[j] > 1000) CHECK(seen[j * 10 + k] / cells[j] == Approx(channel[j * 10 + k]).margin(0.02));
        }
        CHECK(total == Approx(1).epsilon(1e-12));
      }
    }
}

TEST_CASE("score model: kinds of prompts keep what the responses of a prompt share apart") {
  RaterConfig rater = preset("mixed");
  rater.noise = {GaussianNoise{0.3, 0.0, GaussianForm::rounded}, SeverityOffset{2.0}};
  const std::vector<LevelChannel> kinds = level_channels(rater, 10, 1);
  REQUIRE(kinds.size() == 8);
  double least = 10, most = 0, weight = 0;
  for (const LevelChannel& kind : kinds) {
    double mean = 0;
    for (std::size_t k = 0; k < 10; ++k) mean += kind.probability[4 * 10 + k] * static_cast<double>(k + 1);
    least = std::min(least, mean), most = std::max(most, mean), weight += kind.weight;
  }
  CHECK(weight == Approx(1));
  CHECK(most - least > 4);  // medians of eighths of a normal of sd 2: 1.53 sd either way
}
