// Simulated scores: what is known of the presets, panels that answer in turn, and a latent scale rated in training against literal draws.
#include "envs/judge/simulate_scores.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <set>

#include "envs/bandit/channel.hpp"
#include "envs/judge/latent/draw.hpp"
#include "envs/judge/prompt_statistics.hpp"
#include "envs/judge/resampled.hpp"
#include "tests/catch.hpp"
#include "tests/preset.hpp"

using namespace odrpo;

namespace {

struct Means {
  double w = 0, flip = 0, tie = 0, constant = 0, sd = 0, mean = 0;  // median W, means over prompts of the rest
};
Means means_of(const ScoreTable& table) {
  Means m;
  std::vector<double> w;
  const auto all = prompt_statistics(table);
  for (const PromptStatistics& p : all) {
    if (!std::isnan(p.w)) w.push_back(p.w);
    m.flip += p.flip, m.tie += p.tie, m.constant += p.constant_rows, m.sd += p.row_sd, m.mean += p.mean;
  }
  const double n = static_cast<double>(all.size());
  m.flip /= n, m.tie /= n, m.constant /= n, m.sd /= n, m.mean /= n;
  std::nth_element(w.begin(), w.begin() + static_cast<std::ptrdiff_t>(w.size() / 2), w.end());
  m.w = w[w.size() / 2];
  return m;
}

LatentScale panel(int judges) {
  LatentScale scale;
  scale.prompt_share = 0.3, scale.sigma = 0.25, scale.spread = 0.4, scale.judge_sigma = judges > 1 ? 0.4 : 0.0;
  std::vector<double> share;
  for (int j = 0; j < judges; ++j)
    for (const double s : {0.05, 0.2, 0.35, 0.3, 0.1}) share.push_back(j % 2 == 0 ? s : 0.2);
  settle_thresholds(scale, 5, share);
  return scale;
}

}  // namespace

TEST_CASE("presets give the agreement that they were made for", "[simulate]") {
  for (const auto& [word, flip] : {std::pair{"mixed", 0.075}, {"veto", 0.066}, {"wide", 0.129}, {"gauss", 0.073}}) {
    const Means m = means_of(simulate_scores(preset(word), rated_world(10, 1000, 8), 16, 20261123).table);
    INFO(word);
    CHECK(std::abs(m.w - 0.614) < 0.02);  // published; 0.0085 is the sampling error of a median over 1000 prompts
    CHECK(std::abs(m.flip - flip) < 0.006);
  }
}

TEST_CASE("a latent scale rated in training agrees as its literal draws do", "[simulate][latent]") {
  for (const int judges : {1, 4}) {
    RaterConfig rater;
    const LatentScale scale = panel(judges);
    rater.noise = {LatentNoise{scale}};
    // the program's: classes of traits, quality on its grid. The definition: continuous
    const Means ours = means_of(simulate_scores(rater, rated_world(5, 4000, 8), 8, 20261124).table);
    const Means drawn = means_of(draw_scores(scale, ScoreShape{4000, 8, static_cast<std::uint32_t>(8 / judges)}, 20261125).table);
    INFO(judges << " judges: W " << ours.w << " and " << drawn.w << ", flips " << ours.flip << " and " << drawn.flip);
    CHECK(std::abs(ours.w - drawn.w) < 0.012);
    CHECK(std::abs(ours.flip - drawn.flip) < 0.004);
    CHECK(std::abs(ours.tie - drawn.tie) < 0.008);
    CHECK(std::abs(ours.constant - drawn.constant) < 0.012);
    CHECK(std::abs(ours.sd - drawn.sd) < 0.008);
    CHECK(std::abs(ours.mean - drawn.mean) < 0.03);
  }
}

TEST_CASE("judges of a panel answer in turn, the same ones about all responses of a prompt", "[simulate][latent]") {
  RaterConfig rater;
  rater.noise = {LatentNoise{panel(3)}};
  const SimulatedScores made = simulate_scores(rater, rated_world(5, 40, 4), 5, 7);
  REQUIRE(made.table.judges.size() == 3);
  REQUIRE(made.quality.size() == 160);
  std::set<std::vector<std::uint32_t>> seen;
  std::int64_t ratings = 0;
  for (const auto& judge : made.table.judges) ratings += judge.ratings;
  CHECK(ratings == 40 * 4 * 5);
  for (const auto& prompt : made.table.prompts) {
    const auto responses = made.table.responses_of(prompt);
    const auto first = made.table.columns_of(responses[0]);
    for (const auto& r : responses) CHECK(std::equal(first.begin(), first.end(), made.table.columns_of(r).begin()));
    seen.insert({first.begin(), first.end()});
    CHECK(std::is_sorted(first.begin(), first.end()));
  }
  CHECK(seen.size() == 3);  // whoever begins answers twice, and the next one too
}

TEST_CASE("answers that nobody can read are simulated as such", "[simulate]") {
  RaterConfig rater = preset("mixed");
  rater.parse_failure = 0.25;
  for (const ParsePolicy policy : {ParsePolicy::resample, ParsePolicy::drop, ParsePolicy::zero}) {
    rater.parse_policy = policy;
    const auto table = simulate_scores(rater, rated_world(10, 100, 8), 4, 3).table;
    const double share = static_cast<double>(table.unreadables()) / 3200;
    if (policy == ParsePolicy::resample) CHECK(share == 0);
    else CHECK(std::abs(share - 0.25) < 0.04);
  }
}

TEST_CASE("resampled responses agree as their file does, single judges and panels", "[resample]") {
  for (const int judges : {1, 3}) {
    const ScoreTable file = draw_scores(panel(judges), ScoreShape{1200, 8, judges == 1 ? 9u : 3u}, 20261303).table;
    RaterConfig rater;
    rater.noise = {ResampleNoise{resample_responses(file).responses}};
    const Means a = means_of(file), b = means_of(simulate_scores(rater, rated_world(5, 4000, 8), 9, 20261304).table);
    INFO(judges << " judges: W " << a.w << " " << b.w << ", flips " << a.flip << " " << b.flip << ", ties " << a.tie << " " << b.tie
                << ", rows without spread " << a.constant << " " << b.constant << ", row deviation " << a.sd << " " << b.sd);
    CHECK(std::abs(a.w - b.w) < 0.03);
    CHECK(std::abs(a.flip - b.flip) < 0.015);
    CHECK(std::abs(a.tie - b.tie) < 0.02);
    CHECK(std::abs(a.constant - b.constant) < 0.03);
    CHECK(std::abs(a.sd - b.sd) < 0.03);
  }
}

TEST_CASE("fewer responses than a file's are random ones of a prompt", "[resample]") {
  const ScoreTable file = draw_scores(panel(3), ScoreShape{1200, 8, 3}, 20261303).table;
  RaterConfig rater;
  rater.noise = {ResampleNoise{resample_responses(file).responses}};
  ScoreTable three = file;  // three of each eight: they are in no order
  three.responses.clear();
  for (auto& prompt : three.prompts) {
    const auto first = file.responses.begin() + prompt.first;
    prompt.first = static_cast<std::uint32_t>(three.responses.size()), prompt.count = 3;
    three.responses.insert(three.responses.end(), first, first + 3);
  }
  const Means a = means_of(three), b = means_of(simulate_scores(rater, rated_world(5, 4000, 3), 9, 20261304).table);
  INFO("W " << a.w << " " << b.w << ", flips " << a.flip << " " << b.flip << ", ties " << a.tie << " " << b.tie);
  CHECK(std::abs(a.w - b.w) < 0.04);
  CHECK(std::abs(a.flip - b.flip) < 0.015);
  CHECK(std::abs(a.tie - b.tie) < 0.025);
  // each place of the file's order is drawn equally often, and each pair
  std::vector<std::vector<double>> prompt(1, {0, 1, 2, 3, 4, 5});
  NumberRows distributions;
  for (int i = 0; i < 6; ++i) distributions.push_back({1 - 0.1 * i, 0.1 * i});
  rater.noise = {ResampleNoise{join_responses(distributions, 1, prompt)}};
  const BanditConfig config = rated_world(2, 15'000, 2);
  const BanditWorld world = make_bandit(config, resolve_source(config, rater), 20261309, false);
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> pairs;
  for (std::size_t p = 0; p < 15'000; ++p) {
    const std::uint32_t x = world.distribution[p * static_cast<std::size_t>(world.width)],
                        y = world.distribution[p * static_cast<std::size_t>(world.width) + 1];
    pairs[std::minmax(x, y)] += 1;
  }
  CHECK(pairs.size() == 15);
  double chi2 = 0;
  for (const auto& [pair, n] : pairs) chi2 += (n - 1000) * (n - 1000) / 1000;
  CHECK(chi2 < 36.1);  // 99.9 % of 14 degrees of freedom
}

TEST_CASE("a world of as many responses as a file has them all", "[resample]") {
  const ScoreTable file = draw_scores(panel(2), ScoreShape{40, 6, 2}, 20261305).table;
  RaterConfig rater;
  rater.noise = {ResampleNoise{resample_responses(file).responses}};
  const ScoredResponses& all = *scored_responses(rater.noise);
  for (const int actions : {3, 6, 12}) {
    BanditConfig config = rated_world(5, 500, actions);
    const BanditWorld world = make_bandit(config, resolve_source(config, rater), 20261306, false);
    std::set<std::vector<std::uint32_t>> prompts;  // distributions of each of the file's prompts, sorted
    for (std::size_t p = 0; p < all.prompts(); ++p) {
      std::vector<std::uint32_t> distributions(all.distribution.begin() + all.first[p], all.distribution.begin() + all.first[p + 1]);
      std::sort(distributions.begin(), distributions.end());
      prompts.insert(distributions);
    }
    for (std::size_t p = 0; p < 500; ++p) {
      const auto first = world.distribution.begin() + static_cast<std::ptrdiff_t>(p * static_cast<std::size_t>(world.width));
      std::vector<std::uint32_t> distributions(first, first + actions);
      std::sort(distributions.begin(), distributions.end());
      const bool found = std::any_of(prompts.begin(), prompts.end(), [&](std::vector<std::uint32_t> prompt) {
        if (actions == 12) prompt.insert(prompt.end(), prompt.begin(), prompt.end());  // each twice
        std::sort(prompt.begin(), prompt.end());
        return std::includes(prompt.begin(), prompt.end(), distributions.begin(), distributions.end());
      });
      CHECK(found);
    }
  }
}

TEST_CASE("a bias is shared by all calls about a response: votes do not average it out", "[simulate]") {
  RaterConfig rater = preset("gauss");
  BanditConfig config = rated_world(100, 400, 8);  // far from the ends: nothing is clipped
  config.overrides = {.mean = 50, .mean_sd = 3, .spread = 5};
  for (const double sd : {0.0, 4.0}) {
    if (sd > 0) rater.noise.push_back(SharedBias{sd});
    const SimulatedScores made = simulate_scores(rater, config, 256, 20261307);
    double sum = 0, squares = 0, across = 0;
    const auto& responses = made.table.responses;
    for (std::size_t r = 0; r < responses.size(); ++r) {
      double mean = 0;
      for (const auto level : made.table.levels_of(responses[r])) mean += level / 256.0;
      const double error = mean - made.quality[r];
      sum += error, squares += error * error;
      if (r % 2 == 1) {  // with the response before it, of the same prompt
        double before = 0;
        for (const auto level : made.table.levels_of(responses[r - 1])) before += level / 256.0;
        across += error * (before - made.quality[r - 1]);
      }
    }
    const double n = static_cast<double>(responses.size());
    INFO("sd " << sd << ": " << std::sqrt(squares / n));
    CHECK(std::abs(std::sqrt(squares / n) - sd) < 0.15);
    CHECK(std::abs(sum / n) < 0.2);
    CHECK(std::abs(across / (n / 2)) < 1.5);  // 16 if the bias were the prompt's; its error is .4
  }
}

TEST_CASE("expected scores are the means of literal calls, of judges in turn") {
  RaterConfig mixed = preset("mixed"), three;
  mixed.noise.push_back(SharedBias{0.6});
  three.noise = {LatentNoise{panel(3)}};
  for (RaterConfig rater : {mixed, three})
    for (const int votes : {1, 2, 5}) {
      BanditConfig config = rated_world(rater_levels(rater) > 0 ? 5 : 10, 20, 6);
      config.feature_share = 0;
      const SimulatedScores drawn = simulate_scores(rater, config, 300 * votes, 20261308);  // in turn: the first judge more often
      rater.aggregate = Aggregate::expected;
      const BanditWorld world = make_bandit(config, resolve_source(config, rater), 20261308, false);
      DistributionCache distributions(rater, config.levels, votes);
      const std::atomic<bool> never{false};
      const RatedWorld rated = *rate_world(world, rater, votes, 20261308, distributions, never);
      const int judges = panel_size(rater.noise);
      for (std::size_t r = 0; r < drawn.table.responses.size(); ++r) {
        // each judge's mean, weighed as the votes of this prompt are
        std::vector<double> sum(static_cast<std::size_t>(judges), 0.0), count(sum), squares(sum);
        for_each_score(drawn.table, drawn.table.responses[r], [&](int level, std::uint32_t column) {
          const auto j = drawn.table.columns[column].judge;
          sum[j] += level, count[j] += 1, squares[j] += level * level;
        });
        double mean = 0, variance = 0;
        for (int v = 0; v < votes; ++v) {
          const auto j = static_cast<std::size_t>(judges > 1 ? judge_in_turn(20261308, static_cast<std::uint32_t>(r / 6), v, judges) : 0);
          mean += sum[j] / count[j] / votes;
          variance += (squares[j] / count[j] - sum[j] / count[j] * sum[j] / count[j]) / count[j] / votes;
        }
        const double expected = static_cast<double>(rated.expected[r / 6 * static_cast<std::size_t>(world.width) + r % 6]);
        CHECK(std::abs(expected - mean) < 5 * std::sqrt(variance) + 0.02);
      }
    }
}
