// The forms gopo, arena, dgae, qae, grpo-passk and corpo by hand, and their batch form in groups of every size.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "estimators/batch.hpp"
#include "estimators/definition.hpp"
#include "estimators/formula_text.hpp"
#include "estimators/level_values.hpp"
#include "kernels/shared/judge_model.hpp"
#include "tests/catch.hpp"
#include "tests/estimators/configs.hpp"
#include "tests/isas.hpp"

using namespace odrpo;

namespace {

EstimatorConfig corpo(double r_min) {
  EstimatorConfig c = estimator_named("corpo");
  c.r_min = r_min;
  return c;
}

Values of(const char* word, const Values& rewards) { return run(estimator_named(word), rewards); }

EstimatorConfig qae(double kappa) {
  EstimatorConfig c = estimator_named("qae");
  c.kappa = kappa;
  return c;
}

void check_close(const Values& got, const Values& want, double tolerance = 1e-14) {
  REQUIRE(got.size() == want.size());
  CAPTURE(got, want);
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::abs(got[i] - want[i]) <= tolerance * (1 + std::abs(want[i])));
}

/// The forms of this test, qae with several quantiles.
std::vector<EstimatorConfig> forms() {
  std::vector<EstimatorConfig> all;
  for (const char* word : {"gopo", "arena", "dgae", "qae", "grpo-passk"}) all.push_back(estimator_named(word));
  for (const double kappa : {0.0, 0.25, 0.55, 0.75, 1.0}) all.push_back(qae(kappa));
  for (const double r_min : {-2.0, 1.0, 4.5, 8.0, 50.0}) all.push_back(corpo(r_min));
  return all;
}

/// Largest difference over the largest advantage of the group, or over .001.
double error_of(const EstimatorConfig& c, const Values& there, const std::vector<float>& got) {
  Values want(there.size());
  advantages(c, 10, there, no_median, want);
  double worst = 0, size = 1e-3;
  for (std::size_t i = 0; i < want.size(); ++i) {
    worst = std::max(worst, std::abs(want[i] - static_cast<double>(got[i])));
    size = std::max(size, std::abs(want[i]));
  }
  return worst / size;
}

}  // namespace

TEST_CASE("gopo: from 2 for the best to -2 for the worst, equal scores share a rank") {
  check_close(of("gopo", {3, 7, 7, 9}), {-2, 0, 0, 2});
  check_close(of("gopo", {1, 10}), {-2, 2});
  check_close(of("gopo", {8, 8, 8, 1}), {2 / 3.0, 2 / 3.0, 2 / 3.0, -2});
  check_close(of("gopo", {1, 4, 10, 6, 5}), {-2, -1, 2, 1, 0});
  CHECK(of("gopo", {4}) == Values{0});
}

TEST_CASE("arena: standardised places, whose deviation has ddof 1 and 1e-6 unless set") {
  // 3 7 7 9: q = 0 1/2 1/2 1, sum of squares 1/2, sd sqrt(1/6)
  const double a = 0.5 / (std::sqrt(1 / 6.0) + 1e-6);
  check_close(of("arena", {3, 7, 7, 9}), {-a, 0, 0, a});
  EstimatorConfig c = estimator_named("arena");
  c.ddof = 0, c.eps = 0;
  check_close(run(c, {1, 3, 3, 9, 5}), run(estimator_named("rank-grpo"), {1, 3, 3, 9, 5}));
}

TEST_CASE("dgae: over the mean distance from the mean") {
  // 3 7 7 9: mean 6.5, distances 3.5 .5 .5 2.5
  check_close(of("dgae", {3, 7, 7, 9}), {-14 / 7.0001, 2 / 7.0001, 2 / 7.0001, 10 / 7.0001});
  EstimatorConfig c = estimator_named("dgae");
  c.eps = 0;
  const Values a = run(c, {1, 1, 1, 1, 1, 1, 1, 10});
  check_close(a, {-4 / 7.0, -4 / 7.0, -4 / 7.0, -4 / 7.0, -4 / 7.0, -4 / 7.0, -4 / 7.0, 4});
}

TEST_CASE("qae: from the smallest score that at least the share kappa does not exceed") {
  const double sigma = std::sqrt(19 / 4.0);  // of 3 7 7 9
  check_close(run(qae(0), {3, 7, 7, 9}), {0, 4 / sigma, 4 / sigma, 6 / sigma});
  check_close(run(qae(0.25), {3, 7, 7, 9}), {0, 4 / sigma, 4 / sigma, 6 / sigma});
  check_close(run(qae(0.26), {9, 3, 7, 7}), {2 / sigma, -4 / sigma, 0, 0});
  check_close(run(qae(0.75), {3, 7, 7, 9}), {-4 / sigma, 0, 0, 2 / sigma});
  check_close(run(qae(1), {3, 7, 7, 9}), {-6 / sigma, -2 / sigma, -2 / sigma, 0});
  // a share that is a decimal counts as it is written: 55 of 100
  Values hundred(100);
  for (int i = 0; i < 100; ++i) hundred[static_cast<std::size_t>(i)] = i + 1;
  CHECK(run(qae(0.55), hundred, 100)[54] == 0);
}

TEST_CASE("grpo-passk: the best member alone, by what it has over the second best") {
  const double a = 2 / (std::sqrt(19 / 3.0) + 1e-6);
  check_close(of("grpo-passk", {3, 7, 7, 9}), {0, 0, 0, a});
  CHECK(of("grpo-passk", {10, 10, 5}) == Values(3, 0.0));
  CHECK(of("grpo-passk", {5}) == Values{0});
}

TEST_CASE("corpo: from the mean, but at least from the lowest acceptable score, so that equal scores below it teach") {
  check_close(run(corpo(1), {3, 7, 7, 9}), {-3.5, 0.5, 0.5, 2.5});
  check_close(run(corpo(8), {3, 7, 7, 9}), {-5, -1, -1, 1});
  check_close(run(corpo(5), {4, 4, 4}), {-1, -1, -1});
  check_close(run(corpo(5), {2}), {-3});
  CHECK(run(corpo(5), {6, 6}) == Values(2, 0.0));
  CHECK(run(corpo(5), {}).empty());
  EstimatorConfig c = corpo(25);  // of values it is one of these
  c.values = {10, 20, 40};
  check_close(run(c, {1, 3}), {-15, 15});
  check_close(run(c, {1, 1}), {-15, -15});
}

TEST_CASE("groups are dead where nobody learns from equal scores") {
  const std::uint8_t score[] = {3, 3, 3, 6, 6, 6, 1, 2, 4, no_score, no_score, no_score, 5, no_score, no_score};
  EstimatorConfig c = corpo(5);
  const auto dead = [&](const EstimatorConfig& of) {
    const double below = BatchEstimator(of, 10, 3).view().taught_below;
    std::vector<std::uint8_t> mask(std::size(score));
    const int count = fill_mask(score, 5, 3, true, mask.data(), below);
    CHECK(count == std::count(mask.begin(), mask.end(), 1));
    return std::pair(dead_shares(score, 5, 3, 10, 1, below).groups, count);
  };
  CHECK(dead(estimator_named("reinforce")) == std::pair(0.8, 3));
  CHECK(dead(c) == std::pair(0.6, 6));  // the threes too
  c.r_min = 5.5;
  CHECK(dead(c) == std::pair(0.4, 7));
  c.values = {0.5, 1, 5.5, 6, 7, 8, 9, 10, 11, 12};
  CHECK(dead(c) == std::pair(0.8, 3));  // a 3 is worth 5.5
  c.r_min = 5.75;
  CHECK(dead(c) == std::pair(0.6, 6));
  c.r_min = 100;
  CHECK(dead(c) == std::pair(0.2, 10));
}

TEST_CASE("whitening by the scale alone keeps the mean") {
  const Whitening w{true, WhitenScale::added, 1, 0.25, WhitenUnit::response, false};
  const Values batch = {-3, -1, -1, 1};
  const double below = std::sqrt(8 / 3.0) + 0.25;
  Values whitened = batch;
  whiten_definition(w, whitened);
  check_close(whitened, {-3 / below, -1 / below, -1 / below, 1 / below});
  for (const Isa isa : isas())
    for (const bool masked : {false, true}) {
      std::vector<float> a = {-3, -1, -1, 1, 9};
      const std::vector<std::uint8_t> mask = {1, 1, 1, 1, 0};
      estimator_stages(isa).whiten(w, a.data(), masked ? mask.data() : nullptr, masked ? 5 : 4);
      for (std::size_t i = 0; i < 4; ++i) CHECK(a[i] == Approx(batch[i] / below).epsilon(1e-6));
      if (masked) CHECK(a[4] == 0);
    }
  std::vector<float> a = {-3, -1, -1, 1};
  const std::vector<int> tokens(4, 1);
  whiten_tokens(w, a.data(), nullptr, tokens.data(), 4);
  for (std::size_t i = 0; i < 4; ++i) CHECK(a[i] == Approx(batch[i] / below).epsilon(1e-6));
  Values equal = {-3, -3};
  whiten_definition(w, equal);
  CHECK(equal == Values(2, 0.0));
  CHECK(whitening_text(w) == "A / (std + 0.25), ddof 1, over responses");
}

TEST_CASE("the batch form of groups of 1 to 64 is the definition: whole scores, missing ones, real rewards, values of levels") {
  const unsigned seed = 20261127;
  INFO("seed " << seed);
  std::mt19937 g(seed);
  const std::vector<double> values = {0.5, 2, 3, 3.25, 7, 20, 20.5, 31, 60, 100};
  for (const EstimatorConfig& plain : forms())
    for (int size = 1; size <= 64; ++size) {
      INFO(estimator_formula(plain) << ", " << size << " members");
      const std::size_t n = static_cast<std::size_t>(size);
      for (const bool spaced : {false, true}) {
        EstimatorConfig c = plain;
        if (spaced) c.values = values;
        if (values_refusal(c)) continue;
        const BatchEstimator fast(c, 10, size);
        BatchEstimator table = fast;
        for (int round = 0; round < 6; ++round) {
          const int low = 1 + static_cast<int>(g() % 10), spread = 1 + static_cast<int>(g() % static_cast<unsigned>(11 - low));
          std::vector<std::uint8_t> score(n);
          for (auto& s : score) s = static_cast<std::uint8_t>(low + static_cast<int>(g() % static_cast<unsigned>(spread)));
          if (round == 0) std::fill(score.begin(), score.end(), 7);
          if (round == 1) std::fill(score.begin(), score.end(), 1), score.back() = 10;
          if (round == 2) std::fill(score.begin(), score.end(), 10), score.front() = 0;
          std::vector<float> out(n);
          for (const Isa isa : isas()) {
            fast(estimator_stages(isa), score.data(), 1, out.data());
            CHECK(error_of(c, Values(score.begin(), score.end()), out) < 2e-6);
            table.expect(1e9, isa);
            std::vector<float> looked_up(n);
            table(estimator_stages(isa), score.data(), 1, looked_up.data());
            CHECK(looked_up == out);
          }
          for (auto& s : score)
            if (g() % 4 == 0) s = no_score;
          fast.with_gaps(estimator_stages(best_isa()), score.data(), 1, out.data());
          Values there;
          std::vector<float> theirs;
          for (std::size_t i = 0; i < n; ++i) {
            if (score[i] == no_score) CHECK(out[i] == 0);
            else there.push_back(score[i]), theirs.push_back(out[i]);
          }
          CHECK(error_of(c, there, theirs) < 2e-6);
          std::vector<double> real(n);
          for (double& r : real) r = static_cast<double>(g() % 41) / 4 / (round % 2 == 0 ? 1.0 : 1.1);
          fast.real(real.data(), 1, out.data());
          CHECK(error_of(c, real, out) < 2e-6);
        }
      }
    }
}
