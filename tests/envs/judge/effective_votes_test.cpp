// What N calls are worth, against formulas: independent calls, a shared bias, a panel with lasting errors.
#include <cmath>

#include "envs/judge/simulate_scores.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

namespace {

/// Far from the ends of a fine scale, where nothing is clipped.
BanditConfig wide_world() {
  BanditConfig config = rated_world(100, 3000, 8);
  config.overrides = {.mean = 50, .mean_sd = 3, .spread = 5, .spread_sd = 0, .hack_share = 0, .hack_penalty = 0};
  return config;
}

}  // namespace

TEST_CASE("independent calls are worth their number, with and without severity towards prompts", "[worth]") {
  RaterConfig rater;
  rater.noise = {GaussianNoise{2.0, 0.0, GaussianForm::rounded}};
  for (int offset = 0; offset < 2; ++offset) {
    const auto worth = effective_votes(rater, wide_world(), 20261311);
    REQUIRE(worth.size() == 6);
    for (const EffectiveVotes& e : worth) CHECK(e.worth == Approx(e.votes).epsilon(0.001));
    rater.noise.push_back(SeverityOffset{3.0});
  }
}

TEST_CASE("with a shared bias N calls are worth (bias^2 + noise^2) / (bias^2 + noise^2 / N)", "[worth]") {
  const double sigma = 2.0, bias = 1.5, noise = sigma * sigma + 1 / 12.0;  // of a rounded score
  RaterConfig rater;
  rater.noise = {GaussianNoise{sigma, 0.0, GaussianForm::rounded}, SharedBias{bias}};
  for (const EffectiveVotes& e : effective_votes(rater, wide_world(), 20261312)) {
    const double wanted = (bias * bias + noise) / (bias * bias + noise / e.votes);
    INFO(e.votes << " votes");
    CHECK(e.worth == Approx(wanted).epsilon(0.03));
  }
}

TEST_CASE("judges of a panel share their lasting errors with themselves alone", "[worth]") {
  LatentScale scale;
  scale.sigma = 0.3, scale.judge_sigma = 0.4;
  scale.levels = 60;
  for (int j = 0; j < 4; ++j)
    for (int k = 0; k < 59; ++k) scale.threshold.push_back(0.125 * (k - 29.5) + (j % 2 == 0 ? 0.2 : -0.2));  // severity orders nothing
  RaterConfig rater;
  rater.noise = {LatentNoise{scale}};
  const double lasting = 0.4 * 0.4, noise = 0.3 * 0.3 + 0.125 * 0.125 / 12;
  for (const EffectiveVotes& e : effective_votes(rater, rated_world(60, 4000, 8), 20261313)) {
    const double judges = e.votes < 4 ? e.votes : 4;
    const double wanted = (lasting + noise) / (lasting / judges + noise / e.votes);
    INFO(e.votes << " votes");
    CHECK(e.worth == Approx(wanted).epsilon(0.04));
  }
}

TEST_CASE("of judges drawn anew for each call severity is an error, and two calls may be one judge's", "[worth]") {
  LatentScale scale;
  scale.sigma = 0.3, scale.judge_sigma = 0.4;
  scale.levels = 80;
  for (int j = 0; j < 4; ++j)
    for (int k = 0; k < 79; ++k) scale.threshold.push_back(0.125 * (k - 39.5) + (j % 2 == 0 ? 0.5 : -0.5));
  RaterConfig rater;
  rater.noise = {LatentNoise{scale}};
  rater.order = JudgeOrder::random;
  const double lasting = 0.4 * 0.4, noise = 0.3 * 0.3 + 0.125 * 0.125 / 12, severity = 0.25;
  for (const EffectiveVotes& e : effective_votes(rater, rated_world(80, 4000, 8), 20261314)) {
    const double wanted = (lasting + noise + severity) / (lasting / 4 + (0.75 * lasting + noise + severity) / e.votes);
    INFO(e.votes << " votes");
    CHECK(e.worth == Approx(wanted).epsilon(0.04));
  }
}

TEST_CASE("a judge without errors has no worth, and answers that cannot be read are left out", "[worth]") {
  RaterConfig exact;
  exact.noise = {GaussianNoise{0.0, 0.0, GaussianForm::rounded}};
  for (const EffectiveVotes& e : effective_votes(exact, wide_world(), 1)) CHECK(std::isnan(e.worth));
  RaterConfig noisy;
  noisy.noise = {GaussianNoise{2.0, 0.0, GaussianForm::rounded}};
  noisy.parse_failure = 0.3;
  for (const ParsePolicy policy : {ParsePolicy::drop, ParsePolicy::zero, ParsePolicy::resample}) {
    noisy.parse_policy = policy;
    for (const EffectiveVotes& e : effective_votes(noisy, wide_world(), 2)) CHECK(e.worth == Approx(e.votes).epsilon(0.001));
  }
}
