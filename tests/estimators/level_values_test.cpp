// Values of levels: R between the levels, the definition against sums by hand, and what trains against the definition, at random spacings.
#include "estimators/level_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "estimators/batch.hpp"
#include "estimators/definition.hpp"
#include "estimators/formula_text.hpp"
#include "estimators/theory/setting.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"
#include "tests/estimators/configs.hpp"
#include "tests/isas.hpp"

using namespace odrpo;

namespace {

/// `levels` ascending values: gaps of very different sizes, the lowest value `first`.
Values random_values(std::mt19937_64& g, int levels, double first) {
  std::uniform_real_distribution<double> power(-2, 2);
  Values values{first};
  while (std::ssize(values) < levels) values.push_back(values.back() + std::exp(power(g)));
  return values;
}

/// Every config that may have values, with these.
std::vector<EstimatorConfig> configs_with(const Values& values) {
  std::vector<EstimatorConfig> all;
  for (EstimatorConfig c : every_config()) {
    c.values = values;
    if (!values_refusal(c)) all.push_back(c);
  }
  return all;
}

double median_for(const EstimatorConfig& c) { return c.median == MedianRule::running ? 4.5 : no_median; }

}  // namespace

TEST_CASE("values: R is linear between the levels, and a score of 0 is worth 0") {
  const Values values = {2, 3, 13};
  CHECK(value_of_score(values, 0) == 0);
  CHECK(value_of_score(values, 0.25) == 0.5);
  CHECK(value_of_score(values, 1) == 2);
  CHECK(value_of_score(values, 1.5) == 2.5);
  CHECK(value_of_score(values, 2.1) == Approx(4));
  CHECK(value_of_score(values, 3) == 13);
  CHECK((level_gap(values, 1) == 2 && level_gap(values, 2) == 1 && level_gap(values, 3) == 10 && level_gap(values, 4) == 0));
  CHECK(level_gap({}, 7) == 1);
  CHECK(is_spaced(values));
  CHECK(!is_spaced(Values{1, 2, 3}));
  CHECK(!is_spaced({}));
}

TEST_CASE("values: what is no list of values is refused with the reason") {
  CHECK(!ascent_refusal(Values{-1, 0}));
  for (const Values& bad : {Values{}, Values{1}, Values{1, 1}, Values{2, 1}, Values{1, 2e9}, Values{1, std::nan("")},
                            Values{-std::numeric_limits<double>::infinity(), 1}})
    CHECK(ascent_refusal(bad));
  EstimatorConfig c = *parse_estimator("rank-grpo");
  CHECK(!values_refusal(c));
  c.values = {1, 2, 12};
  CHECK(values_refusal(c) == std::string(no_rank_values));
  CHECK_THROWS_AS(BatchEstimator(c, 3, 8), Failure);
  c = *parse_estimator("posterior(grpo)");
  c.values = {1, 2, 12};
  CHECK(values_refusal(c) == std::string(no_posterior_values));
  c = *parse_estimator("grpo");
  c.values = {1, 2, 12};
  CHECK_THROWS_AS(BatchEstimator(c, 4, 8), Failure);
  Values out(2);
  CHECK_THROWS_AS(advantages(c, 3, Values{1, 3.5}, no_median, out), Failure);
}

TEST_CASE("values: 1, 2, 12 by hand") {
  // scores 1 2 2 3 are worth 1 2 2 12: mean 17/4, squares (13/4)^2 + 2 (9/4)^2 + (31/4)^2 = 323/4
  const Values scores = {1, 2, 2, 3};
  const auto run = [&](const char* word, int origin = 1) {
    EstimatorConfig c = *parse_estimator(word);
    c.values = {1, 2, 12};
    c.origin = origin;
    Values out(4);
    advantages(c, 3, scores, no_median, out);
    return out;
  };
  const double sd = std::sqrt(323 / 16.0);
  const Values grpo = run("grpo"), maxrl = run("maxrl"), less = run("maxrl", 0), odrpo = run("odrpo(grpo)"),
               convex = run("convex-reinforce");
  const double worth[] = {1, 2, 2, 12};
  // level 2: 3 of 4 reach it, Delta 1, N = sqrt(3)/4; level 3: 1 of 4, Delta 10, the same N
  const double n = std::sqrt(3.0) / 4, two[] = {-0.75, 0.25, 0.25, 0.25}, three[] = {-0.25, -0.25, -0.25, 0.75};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(grpo[i] == Approx((worth[i] - 4.25) / sd).epsilon(1e-14));
    CHECK(maxrl[i] == Approx((worth[i] - 4.25) / 4.25).epsilon(1e-14));
    CHECK(less[i] == Approx((worth[i] - 4.25) / 3.25).epsilon(1e-14));
    CHECK(odrpo[i] == Approx((two[i] + 10 * three[i]) / n).epsilon(1e-14));
    CHECK(convex[i] == Approx(std::sqrt(2.0) * two[i] + 10 * std::sqrt(3.0) * three[i]).epsilon(1e-13));
  }
}

TEST_CASE("values: 1..K written out are the same bits as none, in the definition and in what trains") {
  const std::uint64_t seed = 20261127;
  CAPTURE(seed);
  std::mt19937_64 g(seed);
  for (const EstimatorConfig& c : configs_with(plain_values(10))) {
    EstimatorConfig plain = c;
    plain.values.clear();
    CAPTURE(text_of(c));
    CHECK(estimator_formula(c) == estimator_formula(plain));
    for (const int members : {3, 8}) {
      BatchEstimator with(c, 10, members), without(plain, 10, members);
      if (with.needs_median()) with.set_median(4.5), without.set_median(4.5);
      std::vector<std::uint8_t> score(static_cast<std::size_t>(20 * members));
      for (auto& s : score) s = static_cast<std::uint8_t>(g() % 11);
      std::vector<float> a(score.size()), b(score.size());
      with(estimator_stages(best_isa()), score.data(), 20, a.data());
      without(estimator_stages(best_isa()), score.data(), 20, b.data());
      CHECK(a == b);
      Values rewards(score.begin(), score.begin() + members), x(rewards.size()), y(rewards.size());
      advantages(c, 10, rewards, median_for(c), x);
      advantages(plain, 10, rewards, median_for(c), y);
      CHECK(largest(x) == Approx(largest(y)).epsilon(1e-14));
      for (std::size_t i = 0; i < x.size(); ++i) CHECK(std::abs(x[i] - y[i]) <= 1e-13 * (1 + largest(y)));
    }
  }
}

TEST_CASE("values: whole scores as they train equal the definition at random spacings, on every instruction set, looked up or not") {
  const std::uint64_t seed = 20261128;
  CAPTURE(seed);
  std::mt19937_64 g(seed);
  for (const auto& [levels, members] : {std::pair{3, 2}, {10, 8}, {5, 16}, {17, 7}, {100, 33}, {4, 255}}) {
    for (const double first : {0.5, -7.0, 0.0})
      for (const EstimatorConfig& c : configs_with(random_values(g, levels, first))) {
        CAPTURE(text_of(c), levels, members, c.values);
        const int groups = 6;
        BatchEstimator plain(c, levels, members), table(c, levels, members);
        if (plain.needs_median()) plain.set_median(4.5), table.set_median(4.5);
        std::vector<std::uint8_t> score(static_cast<std::size_t>(groups * members));
        const int lowest = first > 0 ? 0 : 1;  // a failed score is worth less than level 1
        for (auto& s : score) s = static_cast<std::uint8_t>(lowest + static_cast<int>(g() % static_cast<unsigned>(levels + 1 - lowest)));
        std::vector<float> out(score.size()), other(score.size());
        plain(estimator_stages(Isa::portable), score.data(), groups, out.data());
        for (const Isa isa : isas()) {
          plain(estimator_stages(isa), score.data(), groups, other.data());
          CHECK(other == out);
        }
        if (levels <= 10) table.expect(1e9, best_isa());
        table(estimator_stages(best_isa()), score.data(), groups, other.data());
        CHECK(other == out);
        for (int group = 0; group < groups; ++group) {
          const auto at = static_cast<std::ptrdiff_t>(group * members);
          const Values rewards(score.begin() + at, score.begin() + at + members);
          Values want(rewards.size());
          advantages(c, levels, rewards, median_for(c), want);
          for (int i = 0; i < members; ++i)
            CHECK(std::abs(static_cast<double>(out[static_cast<std::size_t>(at + i)]) - want[static_cast<std::size_t>(i)]) <=
                  3e-5 * (1e-3 + largest(want)));
        }
      }
  }
}

TEST_CASE("values: real rewards between the levels equal the definition, some of them missing, and groups of one") {
  const std::uint64_t seed = 20261129;
  CAPTURE(seed);
  std::mt19937_64 g(seed);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  for (const int levels : {4, 10})
    for (const EstimatorConfig& c : configs_with(random_values(g, levels, 0.75)))
      for (const int members : {1, 2, 5, 8}) {
        BatchEstimator fast(c, levels, 8);
        if (fast.needs_median()) fast.set_median(4.5);
        Values seen(8, std::nan("")), there;
        for (int i = 0; i < members; ++i) {
          there.push_back(g() % 3 == 0 ? 1.0 + static_cast<double>(g() % static_cast<unsigned>(levels)) : levels * uniform(g));
          seen[static_cast<std::size_t>((i * 3) % 8)] = there.back();
        }
        std::vector<float> out(8);
        fast.real(seen.data(), 1, out.data());
        Values want(there.size());
        advantages(c, levels, there, median_for(c), want);
        CAPTURE(text_of(c), c.values, there);
        for (int i = 0; i < members; ++i)
          CHECK(std::abs(static_cast<double>(out[static_cast<std::size_t>((i * 3) % 8)]) - want[static_cast<std::size_t>(i)]) <=
                2e-6 * (1e-6 + largest(want)));
      }
}

TEST_CASE("values: the theory's definition is that of training, and the sum of Delta_k times what level k gives") {
  const std::uint64_t seed = 20261130;
  CAPTURE(seed);
  std::mt19937_64 g(seed);
  for (int round = 0; round < 6; ++round)
    for (const EstimatorConfig& config : every_config()) {
      const int levels = 2 + static_cast<int>(g() % 6), members = 3 + static_cast<int>(g() % 6);
      const TheorySetting setting{config, random_values(g, levels, -1.5), members};
      if (theory_refusal(setting)) continue;
      std::vector<int> counts(static_cast<std::size_t>(levels), 0);
      std::vector<std::uint8_t> score;
      for (int i = 0; i < members; ++i) {
        score.push_back(static_cast<std::uint8_t>(1 + g() % static_cast<unsigned>(levels)));
        ++counts[score.back() - std::size_t{1}];
      }
      const Values by_level = group_advantages(setting, counts);
      CAPTURE(text_of(config), setting.values, counts);
      EstimatorConfig trained = config;
      trained.values = setting.values;
      if (values_refusal(trained)) trained.values.clear();
      std::vector<float> out(score.size());
      BatchEstimator(trained, levels, members)(estimator_stages(best_isa()), score.data(), 1, out.data());
      for (std::size_t i = 0; i < score.size(); ++i)
        CHECK(std::abs(static_cast<double>(out[i]) - by_level[score[i] - std::size_t{1}]) <= 3e-5 * (1e-3 + largest(by_level)));
      if (row_of(config.form).basis != Basis::level) continue;
      Values sum(by_level.size(), 0.0);
      const Values rewards(score.begin(), score.end());
      const double median = weight_median(config, rewards, no_median);
      for (int k = 2; k <= levels; ++k) {
        const int count = count_from(rewards, k);
        const LevelShares shares = level_shares(level_rule(config), weight_of_level(config, k, count, members, median), count, members);
        for (int j = 1; j <= levels; ++j)
          if (counts[static_cast<std::size_t>(j - 1)] > 0)
            sum[static_cast<std::size_t>(j - 1)] += level_gap(setting.values, k) * (j >= k ? shares.reached : shares.missed);
      }
      for (std::size_t j = 0; j < sum.size(); ++j) CHECK(std::abs(sum[j] - by_level[j]) <= 1e-11 * (1 + largest(by_level)));
    }
}

TEST_CASE("values: the formula line says R, Delta_k and the values") {
  const auto line = [](const char* word, int origin = 1) {
    EstimatorConfig c = *parse_estimator(word);
    c.values = {1, 2, 12};
    c.origin = origin;
    return estimator_formula(c);
  };
  CHECK(line("grpo") == "A = (r - mu) / sigma, sigma with ddof 0, R_r in place of r, R = 1, 2, 12");
  CHECK(line("maxrl", 0) == "A = (r - mu) / mu, zeros when mu <= 0, R_r - 1 in place of r, R = 1, 2, 12");
  CHECK(line("odrpo(grpo)") ==
        "A = sum_k Delta_k w_k (1[r>=k] - mu_k) / N_k, N_k = sqrt(mu_k (1 - mu_k)), w_k = 1, Delta_k = R_k - R_(k-1), R = 1, 2, 12");
  CHECK(line("convex-reinforce").ends_with("level k times Delta_k, Delta_k = R_k - R_(k-1), R = 1, 2, 12"));
}
