// Law and literal votes draw from the same distribution, for every preset, N and tie rule; rows and thresholds are what they claim.
#include "envs/channel.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "envs/rate.hpp"
#include "envs/vote.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

namespace {

const std::atomic<bool> never{false};

BanditWorld small_world(std::uint64_t key) {
  BanditConfig c;
  c.prompts = 6;
  c.actions = 5;
  c.overrides.mean = 5;
  c.overrides.spread = 1.5;
  c.overrides.hack_share = 0.3;
  return make_bandit(c, resolve_profile(c, {}), key, false);
}

// How often each level is seen for every (prompt, action), `rounds` ratings each.
std::vector<long> rate_often(const BanditWorld& w, RaterConfig rater, int votes, Sampling how, int rounds, std::uint64_t key) {
  rater.sampling = how;
  LawCache laws(rater, w.levels, how == Sampling::law ? votes : 1);
  const RatedWorld rated = *rate_world(w, rater, votes, key, laws, never);
  const int rollouts = w.actions, blocks = (rollouts + 3) / 4;
  std::vector<std::uint32_t> prompt(w.prompts), word(static_cast<std::size_t>(w.prompts) * blocks * 4), scratch(static_cast<std::size_t>(rollouts) * ((votes + 3) / 4) * 4);
  std::vector<std::uint16_t> action(w.prompts * rollouts);
  std::vector<std::uint8_t> score(w.prompts * rollouts);
  for (int p = 0; p < w.prompts; ++p) {
    prompt[p] = static_cast<std::uint32_t>(p);
    for (int a = 0; a < rollouts; ++a) action[p * rollouts + a] = static_cast<std::uint16_t>(a);
  }
  const RateBatch batch{prompt.data(), action.data(), w.prompts, rollouts, w.width};
  const RateStages& rate = rate_stages(best_isa());
  const RandomStages& random = random_stages(best_isa());
  std::vector<long> seen(static_cast<std::size_t>(w.prompts) * rollouts * (w.levels + 1), 0);
  for (int round = 0; round < rounds; ++round) {
    if (how == Sampling::law) {
      random.fill(word.data(), key, Purpose::rating, static_cast<std::uint32_t>(round), prompt.data(), w.prompts, 0, blocks);
      rate.by_law(rated.view(), batch, word.data(), blocks, score.data());
    } else {
      rate.by_draws(rated.view(), batch, random, key, Purpose::vote, static_cast<std::uint32_t>(round), 0, scratch.data(), score.data());
    }
    for (std::size_t i = 0; i < score.size(); ++i) {
      REQUIRE(score[i] >= 1);
      REQUIRE(score[i] <= w.levels);
      ++seen[i * (w.levels + 1) + score[i]];
    }
  }
  return seen;
}

}  // namespace

TEST_CASE("law = draws by chi-square, for every preset, N in {1,2,8,16,32} and tie rule") {
  const std::uint64_t key = 20261120;
  INFO("key " << key);
  const BanditWorld w = small_world(key);
  double z_sum = 0, z_worst = 0;
  int tests = 0;
  for (const RaterPreset& preset : rater_presets()) {
    for (int votes : {1, 2, 8, 16, 32}) {
      for (TieRule tie : {TieRule::first, TieRule::lowest, TieRule::highest}) {
        if (tie != TieRule::first && votes > 8) continue;
        RaterConfig rater = preset.config;
        rater.tie = tie;
        const int rounds = 400;
        const std::vector<long> a = rate_often(w, rater, votes, Sampling::law, rounds, key), b = rate_often(w, rater, votes, Sampling::draws, rounds, key);
        // two-sample chi-square over all cells that were met often enough
        double chi2 = 0;
        int cells = 0;
        for (std::size_t i = 0; i < a.size(); ++i) {
          const double n = static_cast<double>(a[i] + b[i]), d = static_cast<double>(a[i] - b[i]);
          if (n < 10) continue;
          chi2 += d * d / n;
          ++cells;
        }
        if (cells < 20) continue;  // nearly noiseless: nothing to compare
        // each (prompt, action) row loses a degree of freedom; z of the chi-square
        int rows = w.prompts * w.actions, freedom = cells - rows > 10 ? cells - rows : 10;
        const double z = (chi2 - freedom) / std::sqrt(2.0 * freedom);
        z_sum += z;
        z_worst = std::max(z_worst, z);
        ++tests;
        INFO(preset.word << " N " << votes << " tie " << static_cast<int>(tie) << " chi2 " << chi2 << " cells " << cells);
        CHECK(z < 5);
      }
    }
  }
  INFO("mean z " << z_sum / tests << " worst " << z_worst << " of " << tests);
  CHECK(tests > 100);
  CHECK(std::fabs(z_sum / tests) < 1.5);
}

TEST_CASE("thresholds: probabilities to 2^-31, impossible levels never, certain levels always") {
  std::vector<std::int32_t> t(8);
  make_thresholds(std::vector<double>{0, 0.25, 0, 0.75, 0}, t);
  const auto level = [&](std::int64_t x) {
    int n = 1;
    for (std::int32_t cut : t) n += x > cut;
    return n;
  };
  CHECK(level(0) == 2);
  CHECK(level((1ll << 29) - 1) == 2);
  CHECK(level(1ll << 29) == 4);
  CHECK(level((1ll << 31) - 1) == 4);
  for (std::size_t k = 4; k < t.size(); ++k) CHECK(t[k] == std::numeric_limits<std::int32_t>::max());
}

TEST_CASE("a row's code keeps its traits") {
  for (int q : {16, 37, 160, 1600})
    for (int spread : {0, 7})
      for (int veto : {-1, 0, 7})
        for (bool hack : {false, true}) {
          const Traits t = LawCache::traits(LawCache::code(q, spread, veto, hack));
          CHECK(t.quality == q / 16.0);
          CHECK(t.spread_class == spread);
          CHECK(t.veto_class == veto);
          CHECK(t.hack == hack);
        }
}

TEST_CASE("rating gives the same scores on every instruction set") {
  if (!has_isa(Isa::avx2)) return;
  const BanditWorld w = small_world(5);
  for (const char* word : {"mixed", "yardstick"}) {
    for (int levels : {10}) {
      RaterConfig rater;
      for (const RaterPreset& p : rater_presets())
        if (p.word == word) rater = p.config;
      LawCache laws(rater, levels, 1);
      const RatedWorld rated = *rate_world(w, rater, 8, 5, laws, never);
      std::vector<std::uint32_t> prompt{0, 3, 5}, words(3 * 8), scratch(8 * 2 * 4);
      std::vector<std::uint16_t> action(24);
      for (int i = 0; i < 24; ++i) action[i] = static_cast<std::uint16_t>(i % 5);
      std::vector<std::uint8_t> a(24), b(24);
      const RateBatch batch{prompt.data(), action.data(), 3, 8, w.width};
      for (std::uint32_t step = 0; step < 200; ++step) {
        random_stages(Isa::portable).fill(words.data(), 9, Purpose::rating, step, prompt.data(), 3, 0, 2);
        rate_stages(Isa::portable).by_law(rated.view(), batch, words.data(), 2, a.data());
        rate_stages(Isa::avx2).by_law(rated.view(), batch, words.data(), 2, b.data());
        REQUIRE(a == b);
        rate_stages(Isa::portable).by_draws(rated.view(), batch, random_stages(Isa::portable), 9, Purpose::vote, step, 0, scratch.data(), a.data());
        rate_stages(Isa::avx2).by_draws(rated.view(), batch, random_stages(Isa::avx2), 9, Purpose::vote, step, 0, scratch.data(), b.data());
        REQUIRE(a == b);
      }
    }
  }
}

TEST_CASE("rows are made once and shared by worlds") {
  RaterConfig rater = rater_presets()[0].config;
  LawCache laws(rater, 10, 8);
  const BanditWorld w = small_world(1);
  rate_world(w, rater, 8, 1, laws, never);
  const std::size_t made = laws.rows_made();
  rate_world(w, rater, 8, 1, laws, never);
  CHECK(laws.rows_made() == made);
  CHECK(made <= static_cast<std::size_t>(w.prompts) * w.actions);
}

TEST_CASE("making rows stops when asked to, and a world asks for no more rows than most_rows says") {
  const std::atomic<bool> stop{true};
  for (const RaterPreset& preset : rater_presets()) {
    LawCache laws(preset.config, 10, 2);
    const BanditWorld w = small_world(1);
    CHECK_FALSE(rate_world(w, preset.config, 2, 1, laws, stop).has_value());
    CHECK(laws.rows_made() == 0);
    rate_world(w, preset.config, 2, 1, laws, never);
    CHECK(static_cast<double>(laws.rows_made()) <= most_rows(BanditConfig{}, preset.config) * 2);
  }
}
