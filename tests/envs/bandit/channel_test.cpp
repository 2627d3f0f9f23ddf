// One draw and literal votes draw from the same distribution, for every preset, N and tie rule; rows and thresholds are what they claim.
#include "envs/bandit/channel.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>
#include <vector>

#include "envs/bandit/rate.hpp"
#include "envs/rater/vote.hpp"
#include "kernels/random.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"
#include "tests/envs/bandit/law_draws.hpp"

using namespace odrpo;
using namespace distribution_draws;

TEST_CASE("law = draws by chi-square, for every preset, N in {1,2,8,16,32} and tie rule") {
  const BanditWorld w = small_world(20261120);
  const int rounds = 6000;
  double z_sum = 0, z_worst = 0, fewest = 1e9;
  int tests = 0;
  std::uint32_t number = 0;
  for (const RaterPreset& preset : rater_presets()) {
    if (rater_levels(preset.config) > 0) continue;  // panels: panel_test.cpp
    for (int votes : {1, 2, 8, 16, 32}) {
      for (TieRule tie : {TieRule::first, TieRule::lowest, TieRule::highest}) {
        RaterConfig rater = preset.config;
        rater.tie = tie;
        const std::uint64_t key = derive_key(20261120, number++);  // its own words, so that the tests are independent
        const Agreement got = agreement(rate_often(w, rater, votes, Sampling::law, rounds, key),
                                        rate_often(w, rater, votes, Sampling::draws, rounds, key), rounds);
        if (got.freedom < 10) continue;  // nearly noiseless: nothing to compare
        const double z = got.z();
        z_sum += z;
        z_worst = std::max(z_worst, z);
        fewest = std::min(fewest, static_cast<double>(got.freedom));
        ++tests;
        INFO(preset.word << " N " << votes << " tie " << static_cast<int>(tie) << " key " << key << " chi2 " << got.chi2 << " freedom "
                         << got.freedom);
        CHECK(z < 4.5);
      }
    }
  }
  // the mean of that many independent z has a standard deviation of 0.07: a small bias of all distributions would show here
  const double z_mean = z_sum / tests;
  std::printf("law = draws: %d tests of at least %.0f degrees of freedom, mean z %+.3f, largest %.2f\n", tests, fewest, z_mean, z_worst);
  CHECK(tests > 200);
  CHECK(std::fabs(z_mean) < 0.4);
}

TEST_CASE("the chi-square of law and draws tells a law that is off by three hundredths, or has another tie rule") {
  const BanditWorld w = small_world(3);
  const int rounds = 3000;
  RaterConfig rater = rater_presets()[0].config, other = rater;
  const auto z_of = [&](int votes) {
    const Agreement got =
        agreement(rate_often(w, other, votes, Sampling::law, rounds, 3), rate_often(w, rater, votes, Sampling::draws, rounds, 3), rounds);
    return got.z();
  };
  for (int votes : {1, 2, 8, 16, 32}) {
    CHECK(z_of(votes) < 3);
    other.noise.push_back(LowOutliers{0.03, OutlierTarget::all});
    if (votes <= 2) CHECK(z_of(votes) > 5);  // one outlier does not change a vote of many
    other = rater;
    other.tie = TieRule::highest;
    if (votes > 1) CHECK(z_of(votes) > 5);
    other = rater;
  }
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
        for (bool hack : {false, true})
          for (int offset : {0, 1, 7}) {
            const Traits t = row_traits(row_code({q / 16.0, spread, veto, hack, offset}));
            CHECK(t.quality == q / 16.0);
            CHECK(t.spread_class == spread);
            CHECK(t.veto_class == veto);
            CHECK(t.hack == hack);
            CHECK(t.offset_class == offset);
          }
  std::set<std::uint64_t> codes;
  for (int judge : {0, 1, 31, most_judges - 1})
    for (int error : {0, 5, 7})
      for (int veto : {-1, 7})
        for (bool hack : {false, true}) {
          for (int bias : {0, 7}) {
            const std::uint64_t code = row_code({.quality = 100,
                                                 .spread_class = 7,
                                                 .veto_class = veto,
                                                 .hack = hack,
                                                 .bias_class = bias,
                                                 .judge = judge,
                                                 .judge_class = error});
            const Traits t = row_traits(code);
            CHECK((t.quality == 100 && t.spread_class == 7 && t.veto_class == veto && t.hack == hack && t.bias_class == bias));
            CHECK((t.judge == judge && t.judge_class == error && t.distribution == -1));
            codes.insert(code);
          }
        }
  for (int distribution : {0, 1, most_distributions - 1})
    for (int veto : {-1, 7})
      for (bool hack : {false, true}) {
        const std::uint64_t code = row_code({.veto_class = veto, .hack = hack, .distribution = distribution});
        const Traits t = row_traits(code);
        CHECK((t.distribution == distribution && t.veto_class == veto && t.hack == hack));
        codes.insert(code);
      }
  CHECK(codes.size() == 4 * 3 * 2 * 2 * 2 + 3 * 2 * 2);
}

TEST_CASE("rating gives the same scores on every instruction set") {
  if (!has_isa(Isa::avx2)) return;
  const BanditWorld w = small_world(5);
  for (const char* word : {"mixed", "yardstick"}) {
    for (int levels : {10}) {
      RaterConfig rater;
      for (const RaterPreset& p : rater_presets())
        if (p.word == word) rater = p.config;
      DistributionCache distributions(rater, levels, 1);
      const RatedWorld rated = *rate_world(w, rater, 8, 5, distributions, never);
      std::vector<std::uint32_t> prompt{0, 3, 5}, words(3 * 8), scratch(8 * 2 * 4);
      std::vector<std::uint16_t> action(24);
      for (int i = 0; i < 24; ++i) action[i] = static_cast<std::uint16_t>(i % 5);
      std::vector<std::uint8_t> a(24), b(24);
      const RateBatch batch{prompt.data(), action.data(), 3, 8, w.width};
      for (std::uint32_t step = 0; step < 200; ++step) {
        random_stages(Isa::portable).fill(words.data(), 9, Purpose::rating, step, prompt.data(), 3, 0, 2);
        rate_stages(Isa::portable).by_distribution(rated.view(), batch, words.data(), 2, {a.data(), nullptr});
        rate_stages(Isa::avx2).by_distribution(rated.view(), batch, words.data(), 2, {b.data(), nullptr});
        REQUIRE(a == b);
        rate_stages(Isa::portable)
            .by_draws(rated.view(), batch, random_stages(Isa::portable), 9, Purpose::vote, step, 0, scratch.data(), {a.data(), nullptr});
        rate_stages(Isa::avx2).by_draws(rated.view(), batch, random_stages(Isa::avx2), 9, Purpose::vote, step, 0, scratch.data(),
                                        {b.data(), nullptr});
        REQUIRE(a == b);
      }
    }
  }
}

TEST_CASE("what a row costs is told before it is made") {
  const BanditConfig env;
  RaterConfig rater = rater_presets()[0].config;
  CHECK(row_bytes(env, rater, 32) == 4 * 16);
  rater.aggregate = Aggregate::mean;
  CHECK(row_bytes(env, rater, 1) == 4 * 16);
  CHECK(row_bytes(env, rater, 1024) == 4.0 * 1024 * 9);
  CHECK(DistributionCache(rater, 10, 1024).bytes() > std::size_t{100} << 20);
  CHECK(DistributionCache(rater, 10, 8).bytes() == std::size_t{4} << 20);
  for (const int votes : {2, 8, 33}) {
    DistributionCache distributions(rater, 10, votes);
    std::vector<std::int32_t> row;
    distributions.append_row(row_code({.quality = 5}), row);
    CHECK(row.size() == static_cast<std::size_t>(distributions.stride()));
    CHECK(row_bytes(env, rater, votes) == 4.0 * distributions.stride());
  }
  rater.sampling = Sampling::draws;
  CHECK(row_bytes(env, rater, 1024) == 4 * 16);
  CHECK(row_seconds(env, rater, 1024) < 1e-4);
  // beyond its limit the distribution of nearest-mean is priced out, and refuses with a way out
  rater = rater_presets()[0].config;
  rater.tie = TieRule::nearest_mean;
  CHECK(row_seconds(env, rater, 16) < 0.1);
  CHECK(row_seconds(env, rater, 32) > 3);
  DistributionCache distributions(rater, 10, 32);
  std::vector<std::int32_t> row;
  try {
    distributions.append_row(row_code({.quality = 5}), row);
    FAIL("not refused");
  } catch (const Failure& failure) {
    CHECK(failure.code == Exit::limits);
    CHECK(std::string(failure.what()).find("sampling = \"draws\"") != std::string::npos);
  }
}

TEST_CASE("rows are made once and shared by worlds") {
  RaterConfig rater = rater_presets()[0].config;
  DistributionCache distributions(rater, 10, 8);
  const BanditWorld w = small_world(1);
  rate_world(w, rater, 8, 1, distributions, never);
  const std::size_t made = distributions.rows_made();
  rate_world(w, rater, 8, 1, distributions, never);
  CHECK(distributions.rows_made() == made);
  CHECK(made <= static_cast<std::size_t>(w.prompts) * w.actions);
}

TEST_CASE("making rows stops when asked to, and a world asks for no more rows than most_rows says") {
  const std::atomic<bool> stop{true};
  for (const RaterPreset& preset : rater_presets()) {
    if (rater_levels(preset.config) > 0) continue;  // its levels are not the world's
    DistributionCache distributions(preset.config, 10, 2);
    const BanditWorld w = small_world(1);
    CHECK_FALSE(rate_world(w, preset.config, 2, 1, distributions, stop).has_value());
    CHECK(distributions.rows_made() == 0);
    rate_world(w, preset.config, 2, 1, distributions, never);
    CHECK(static_cast<double>(distributions.rows_made()) <= most_rows(BanditConfig{}, preset.config) * 2);
  }
  // and about as many as expected_rows says, of one world and of several
  for (const RaterPreset& preset : rater_presets()) {
    if (rater_levels(preset.config) > 0) continue;
    BanditConfig env;
    DistributionCache distributions(preset.config, env.levels, 1);
    for (const int worlds : {1, 2, 3}) {
      const BanditWorld w = make_bandit(env, resolve_source(env, preset.config), static_cast<std::uint64_t>(worlds), false);
      const RatedWorld rated = *rate_world(w, preset.config, 1, static_cast<std::uint64_t>(worlds), distributions, never);
      const double ratio = expected_rows(env, preset.config, 1, worlds) / static_cast<double>(distributions.rows_made());
      INFO(preset.word << ": " << worlds << " worlds, " << distributions.rows_made() << " rows, expected over made " << ratio);
      CHECK(ratio > 0.7);
      CHECK(ratio < 2);
      const double bytes = rated_bytes(env, preset.config, 1) / static_cast<double>(rated.bytes());
      CHECK(bytes > 0.9);
      CHECK(bytes < 2.5);  // the vector of the table has room for more
    }
  }
  // whole levels, all prompts of one quality: the rows are the offset's classes
  BanditConfig c;
  c.prompts = 300;
  c.actions = 2;
  c.quality = QualityKind::integer;
  c.overrides.mean = 5;
  c.overrides.mean_sd = c.overrides.spread = c.overrides.spread_sd = 0;
  RaterConfig rater;
  rater.noise = {GaussianNoise{0.4, 0, GaussianForm::rounded}, SeverityOffset{0.5}};
  CHECK(most_rows(c, rater) == 10 * trait_classes);
  DistributionCache distributions(rater, 10, 1);
  const BanditWorld w = make_bandit(c, resolve_profile(c, {}), 1, false);
  const RatedWorld rated = *rate_world(w, rater, 1, 1, distributions, never);
  CHECK(distributions.rows_made() == trait_classes);
  std::vector<int> met(trait_classes, 0);
  for (int p = 0; p < c.prompts; ++p) {
    CHECK(rated.row[static_cast<std::size_t>(p) * w.width] == rated.row[static_cast<std::size_t>(p) * w.width + 1]);  // one offset a prompt
    ++met[rated.row[static_cast<std::size_t>(p) * w.width] / static_cast<std::uint32_t>(rated.stride)];
  }
  for (const int n : met) CHECK(n > 15);  // 300 / 8 = 37.5 expected, sd 5.7
}
