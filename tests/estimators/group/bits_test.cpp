// Advantages by bits: by hand, what they are without a normaliser, what trains against the definition, curl and objective.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "estimators/batch.hpp"
#include "estimators/definition.hpp"
#include "estimators/formula_text.hpp"
#include "estimators/group/level_forms.hpp"
#include "estimators/theory/field.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"
#include "tests/estimators/configs.hpp"

using namespace odrpo;

namespace {

std::vector<EstimatorConfig> configs_by_bits() {
  std::vector<EstimatorConfig> all;
  for (const EstimatorConfig& c : every_config())
    if (whole_only(c)) all.push_back(c);
  return all;
}

}  // namespace

TEST_CASE("bits: how many, and which") {
  CHECK((bits_of(1) == 0 && bits_of(2) == 1 && bits_of(3) == 2 && bits_of(4) == 2 && bits_of(5) == 3 && bits_of(10) == 4 &&
         bits_of(100) == 7));
  for (int score = 1; score <= 100; ++score) {
    int sum = 0;
    for (int b = 0; b < bits_of(100); ++b) sum += bit_of(score, b) << b;
    CHECK(sum == score - 1);
  }
  for (int b = 0; b < 7; ++b) CHECK((bit_of(0, b) == 0 && bit_of(1, b) == 0));
}

TEST_CASE("bits: 1 2 3 by hand") {
  // r - 1 = 00, 01, 10: each bit is had by one of three, N = sqrt(2)/3 or 1/3
  const double n = std::sqrt(2.0) / 3, mu = 1 / 3.0;
  const Values grpo = run(*parse_estimator("odrpo-bitwise(grpo)"), {1, 2, 3}),
               maxrl = run(*parse_estimator("odrpo-bitwise(maxrl)"), {1, 2, 3});
  const double first[] = {-mu, 1 - mu, -mu}, second[] = {-mu, -mu, 1 - mu};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(grpo[i] == Approx((first[i] + 2 * second[i]) / n).epsilon(1e-14).margin(1e-15));
    CHECK(maxrl[i] == Approx((first[i] + 2 * second[i]) / mu).epsilon(1e-14).margin(1e-15));
  }
  // 4 and 5 are 011 and 100: the better score gets less. Of maxrl: 3 (0.6 / 0.4) - 4 = 1/2, and 4 (0.4 / 0.6) - 3 = -1/3
  const Values pair = run(*parse_estimator("odrpo-bitwise(maxrl)"), {4, 4, 5, 5, 5});
  CHECK(pair[0] == Approx(0.5).epsilon(1e-14));
  CHECK(pair[2] == Approx(-1 / 3.0).epsilon(1e-14));
  // 2 and 3 are 01 and 10, and in 2 3 3 they cancel: 2 - 2 and 1 - 1
  CHECK(largest(run(*parse_estimator("odrpo-bitwise(maxrl)"), {2, 3, 3})) < 1e-15);
  // of grpo bits 0 and 1 have sd sqrt(7)/8, bit 2 has 1/2: 3 sqrt(7) - 4, and 4 - 3 / sqrt(7)
  const Values many = run(*parse_estimator("odrpo-bitwise(grpo)"), {1, 1, 1, 4, 5, 5, 5, 5});
  CHECK(many[3] == Approx(3 * std::sqrt(7.0) - 4).epsilon(1e-13));
  CHECK(many[4] == Approx(4 - 3 / std::sqrt(7.0)).epsilon(1e-13));
}

TEST_CASE("bits: without a normaliser their sum is r - mu") {
  std::mt19937_64 g(20261201);
  for (int round = 0; round < 200; ++round) {
    const int size = 2 + static_cast<int>(g() % 9);
    Values scores(static_cast<std::size_t>(size)), sum(scores.size(), 0.0);
    for (double& r : scores) r = 1 + static_cast<double>(g() % 100);
    const double mean = std::accumulate(scores.begin(), scores.end(), 0.0) / size;
    const LevelRule none{Divisor::none, 0, 0, 0, 2};
    for (int b = 0; b < bits_of(100); ++b) {
      const int count =
          static_cast<int>(std::count_if(scores.begin(), scores.end(), [b](double r) { return bit_of(static_cast<int>(r), b) != 0; }));
      const LevelShares shares = level_shares(none, bit_weight(b), count, size);
      for (std::size_t i = 0; i < scores.size(); ++i)
        sum[i] += bit_of(static_cast<int>(scores[i]), b) != 0 ? shares.reached : shares.missed;
    }
    for (std::size_t i = 0; i < scores.size(); ++i) CHECK(sum[i] == Approx(scores[i] - mean).epsilon(1e-12).margin(1e-11));
  }
}

TEST_CASE("bits: of two levels they are odrpo, a score of 0 counts as 1, and other numbers are refused") {
  for (const EstimatorConfig& c : configs_by_bits()) {
    EstimatorConfig levels = c;
    levels.form = Form::odrpo;
    CAPTURE(text_of(c));
    const Values two = {1, 2, 2, 1, 2}, by_bits = run(c, two, 2), by_levels = run(levels, two, 2);
    for (std::size_t i = 0; i < two.size(); ++i) CHECK(by_bits[i] == Approx(by_levels[i]).epsilon(1e-14));
    CHECK(run(c, {0, 3, 7, 1}) == run(c, {1, 3, 7, 1}));
    CHECK(run(c, {0, 1, 1}) == Values(3, 0.0));
    for (const Values& bad : {Values{1.5, 2}, Values{-1, 2}, Values{1, 2e6}}) CHECK_THROWS_AS(run(c, bad), Failure);
  }
}

TEST_CASE("bits: whole scores as they train equal the definition, on every instruction set, looked up, with missing scores, alone") {
  const std::uint64_t seed = 20261202;
  CAPTURE(seed);
  std::mt19937_64 g(seed);
  for (const EstimatorConfig& c : configs_by_bits())
    for (const auto& [levels, members] : {std::pair{3, 2}, {10, 8}, {5, 16}, {17, 7}, {100, 33}, {64, 255}, {10, 1}, {1, 8}}) {
      CAPTURE(text_of(c), levels, members);
      BatchEstimator plain(c, levels, members), table(c, levels, members);
      table.expect(1e9, best_isa());
      for (int round = 0; round < 12; ++round) {
        std::vector<std::uint8_t> score(static_cast<std::size_t>(members));
        const unsigned spread = 1 + static_cast<unsigned>(g() % static_cast<unsigned>(levels + 1));
        for (auto& s : score) s = static_cast<std::uint8_t>(static_cast<unsigned>(levels) - g() % spread);
        std::vector<float> out(score.size()), other(score.size());
        const auto compare = [&, k = levels](const std::vector<float>& got) {
          Values there;
          for (const std::uint8_t s : score)
            if (s != no_score) there.push_back(s);
          const Values want = run(c, there, k);
          std::size_t next = 0;
          for (std::size_t i = 0; i < score.size(); ++i) {
            const double wanted = score[i] == no_score ? 0.0 : want[next++];
            CHECK(std::abs(static_cast<double>(got[i]) - wanted) <= 1e-5 * (1 + largest(want)));
          }
        };
        plain(estimator_stages(Isa::portable), score.data(), 1, out.data());
        compare(out);
        plain(estimator_stages(best_isa()), score.data(), 1, other.data());
        CHECK(other == out);
        table(estimator_stages(best_isa()), score.data(), 1, other.data());
        CHECK(other == out);
        score[g() % score.size()] = no_score;
        plain.with_gaps(estimator_stages(best_isa()), score.data(), 1, out.data());
        compare(out);
      }
    }
}

TEST_CASE("bits: a breakdown has a row for each, and the rows add up") {
  std::mt19937_64 g(20261203);
  for (const EstimatorConfig& c : configs_by_bits())
    for (int round = 0; round < 20; ++round) {
      Values scores(1 + g() % 9);
      for (double& r : scores) r = static_cast<double>(g() % 11);
      const Breakdown b = break_down(c, 10, scores, no_median);
      CAPTURE(text_of(c), scores);
      REQUIRE(b.levels.size() == 4);
      for (std::size_t i = 0; i < scores.size(); ++i) {
        double sum = 0;
        for (int bit = 0; bit < 4; ++bit) {
          const LevelPart& part = b.levels[static_cast<std::size_t>(bit)];
          CHECK(part.high == bit);
          if (part.weight != 0) CHECK(part.weight == bit_weight(bit));
          sum += bit_of(static_cast<int>(scores[i]), bit) != 0 ? part.reached : part.missed;
        }
        CHECK(std::abs(sum - b.advantages[i]) <= 1e-12 * (1 + std::abs(sum)));
      }
    }
}

TEST_CASE("bits: the field has no curl, and it is the gradient of the sum of 2^b H(Q_b)") {
  std::mt19937_64 g(20261204);
  std::exponential_distribution<double> wait;
  for (const EstimatorConfig& c : configs_by_bits())
    for (const int levels : {3, 5, 8}) {
      const int members = levels == 8 ? 4 : 6;
      const TheorySetting s{c, plain_values(levels), members};
      CAPTURE(text_of(c), levels);
      CHECK(mean_absolute_curl(s).all < 1e-12);
      REQUIRE(!objective_refusal(c, members, no_median));
      Values p(static_cast<std::size_t>(levels));
      double total = 0;
      for (double& x : p) total += x = 0.2 + wait(g);
      for (double& x : p) x /= total;
      const Values field = update_field(s, p);
      for (std::size_t k = 1; k < p.size(); ++k) {  // dJ/dp_k - dJ/dp_1 = F_k - F_1
        const auto at = [&](double h) {
          Values moved = p;
          moved[k] += h, moved[0] -= h;
          return objective(c, s.values, members, no_median, reach_of(moved));
        };
        const double h = 1e-3, wide = (at(2 * h) - at(-2 * h)) / (4 * h), narrow = (at(h) - at(-h)) / (2 * h);
        CHECK((4 * narrow - wide) / 3 == Approx(field[k] - field[0]).epsilon(1e-7).margin(1e-7));
      }
      CHECK(objective_refusal(*parse_estimator("grpo"), members, no_median));
    }
  // values of levels mean nothing to bits
  CHECK(theory_refusal({*parse_estimator("odrpo-bitwise(grpo)"), {1, 2, 12}, 4}));
}

TEST_CASE("bits: the limit of the objective, and formulas") {
  const EstimatorConfig grpo = *parse_estimator("odrpo-bitwise(grpo)");
  // p = (.1, .2, .3, .4): bit 0 at levels 2 and 4, bit 1 at 3 and 4
  const Values p = {0.1, 0.2, 0.3, 0.4};
  CHECK(objective(grpo, plain_values(4), 0, no_median, reach_of(p)) ==
        Approx(2 * std::asin(std::sqrt(0.6)) + 4 * std::asin(std::sqrt(0.7))).epsilon(1e-13));
  CHECK(objective(*parse_estimator("odrpo-bitwise(maxrl)"), plain_values(4), 0, no_median, reach_of(p)) ==
        Approx(std::log(0.6) + 2 * std::log(0.7)).epsilon(1e-13));
  CHECK(estimator_formula(grpo) == "A = sum_b 2^b (bit_b(r-1) - mu_b) / N_b, N_b = sqrt(mu_b (1 - mu_b))");
  EstimatorConfig nemo = grpo;
  nemo.compat = Compat::nemo;
  CHECK(estimator_formula(nemo).starts_with("A = sum_b 2^b (bit_b(r-1) - mean of others) / "));
  EstimatorConfig verl = grpo;
  verl.compat = Compat::verl;
  CHECK(single_text(verl) == "r - 1");
}
