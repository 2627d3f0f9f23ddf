// Posterior scores against Bayes' rule written out: products of probabilities, in long double.
#include "estimators/posterior/posterior.hpp"

#include <cmath>
#include <random>

#include "estimators/batch.hpp"
#include "estimators/definition.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/subnormals.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

namespace {

ScoreModel random_model(std::mt19937& g, bool moments) {
  std::uniform_real_distribution<double> u(0, 1);
  ScoreModel m;
  m.lowest = static_cast<int>(g() % 2);
  m.per_level = g() % 2 ? 1 : 32;
  m.scores = 4 * m.per_level + 1;
  const int states = 1 + static_cast<int>(g() % 9);
  double total = 0;
  for (int c = 0; c < states; ++c) total += m.prompts.prior.emplace_back(u(g) + 0.01);
  for (double& p : m.prompts.prior) p /= total;
  for (int c = 0; c < states; ++c) {
    double sum = 0;
    for (int k = 0; k < m.scores; ++k) sum += m.likelihood.emplace_back(k > 0 && u(g) < 0.2 ? 0 : u(g) + 0.01);
    for (int k = 0; k < m.scores; ++k) m.likelihood[m.likelihood.size() - 1 - static_cast<std::size_t>(k)] /= sum;
    for (int k = 0; k < m.scores; ++k) m.expected.push_back(1 + 4 * u(g)), m.variance.push_back(u(g));
  }
  if (!moments) return m;
  for (int c = 0; c < states; ++c) m.prompts.centre.push_back(4 * u(g)), m.prompts.log_spread.push_back(u(g) - 0.5);
  for (std::size_t i = 0; i < m.expected.size(); ++i) m.square.push_back(u(g));
  m.prompts.moments = {2, 1, 0.5};
  m.prompts.log_spread_sd = 0.4;
  return m;
}

/// P(c | group); empty where no state makes the scores possible.
std::vector<long double> by_rule(const ScoreModel& m, std::span<const double> prior, std::span<const int> seen) {
  std::vector<long double> w(m.states());
  long double total = 0;
  for (std::size_t c = 0; c < w.size(); ++c) {
    w[c] = prior[c];
    for (const int k : seen)
      if (k >= 0) w[c] *= m.likelihood[c * static_cast<std::size_t>(m.scores) + static_cast<std::size_t>(k)];
    total += w[c];
  }
  if (total == 0) return {};
  for (long double& x : w) x /= total;
  return w;
}

long double value_of(const ScoreModel& m, const std::vector<long double>& w, int k) {
  long double sum = 0;
  for (std::size_t c = 0; c < w.size(); ++c) sum += w[c] * m.expected[c * static_cast<std::size_t>(m.scores) + static_cast<std::size_t>(k)];
  return sum;
}

/// Mean over members of Var(q_i - mean q | group): a quality is E + an independent rest, in each state.
long double open_by_rule(const ScoreModel& m, const std::vector<long double>& w, const std::vector<int>& seen) {
  std::vector<int> there;
  for (const int k : seen)
    if (k >= 0) there.push_back(k);
  const long double n = static_cast<long double>(there.size());
  long double open = 0;
  for (const int own : there) {
    long double first = 0, second = 0;
    for (std::size_t c = 0; c < w.size(); ++c) {
      const auto at = [&](const std::vector<double>& of, int k) -> long double {
        return of[c * static_cast<std::size_t>(m.scores) + static_cast<std::size_t>(k)];
      };
      long double distance = at(m.expected, own), rest = (1 - 2 / n) * at(m.variance, own);
      for (const int k : there) distance -= at(m.expected, k) / n, rest += at(m.variance, k) / (n * n);
      first += w[c] * distance, second += w[c] * (distance * distance + rest);
    }
    open += (second - first * first) / n;
  }
  return open;
}

std::vector<int> random_scores(std::mt19937& g, const ScoreModel& m) {
  std::vector<int> seen(g() % 16 == 0 ? 2000 : g() % 8 == 0 ? 40 + g() % 30 : 1 + g() % 9);  // the product of 2,000 is too small for a double
  for (int& k : seen) k = g() % 7 == 0 ? -1 : static_cast<int>(g() % static_cast<unsigned>(m.scores));
  return seen;
}

}  // namespace

TEST_CASE("posterior scores are what Bayes' rule gives, whatever the order of a group") {
  int compared = 0;
  for (unsigned seed = 1; seed <= 400; ++seed) {
    std::mt19937 g(seed);
    const ScoreModel m = random_model(g, false);
    const PosteriorScores scores(m);
    const StatePrior prior(m.prompts.prior);
    PosteriorGroup group(scores);
    std::vector<int> seen = random_scores(g, m);
    const std::vector<long double> w = by_rule(m, m.prompts.prior, seen);
    if (w.empty()) continue;  // impossible: its value has no definition
    INFO("seed " << seed);
    std::vector<double> value(seen.size()), again(seen.size());
    group.values(scores, prior, seen, value);
    for (std::size_t c = 0; c < w.size(); ++c) CHECK(group.weights()[c] == Approx(static_cast<double>(w[c])).margin(1e-12));
    for (std::size_t i = 0; i < seen.size(); ++i) {
      if (seen[i] < 0) CHECK(std::isnan(value[i]));
      else CHECK(value[i] == Approx(static_cast<double>(value_of(m, w, seen[i]))).epsilon(1e-12));
    }
    const double open = group.values_and_variance(scores, prior, seen, again);
    CHECK(open == Approx(static_cast<double>(open_by_rule(m, w, seen))).margin(1e-12));
    for (std::size_t i = 0; i < seen.size(); ++i)
      if (seen[i] >= 0) CHECK(again[i] == value[i]);
    std::vector<int> turned(seen.rbegin(), seen.rend());
    group.values(scores, prior, turned, again);
    for (std::size_t i = 0; i < seen.size(); ++i)
      if (seen[i] >= 0) CHECK(value[i] == again[seen.size() - 1 - i]);
    ++compared;
  }
  CHECK(compared > 100);
}

TEST_CASE("scores that no state makes possible have finite values, and a group without scores none") {
  ScoreModel m;
  m.scores = 3;
  m.prompts.prior = {0.5, 0.5};
  m.likelihood = {1, 0, 0, 0.5, 0.5, 0};
  m.expected = {1, 2, 2, 1, 2, 3};
  m.variance.assign(6, 0);
  const PosteriorScores scores(m);
  PosteriorGroup group(scores);
  std::vector<double> value(2);
  group.values(scores, StatePrior(m.prompts.prior), std::vector<int>{2, 2}, value);
  CHECK(value[0] == value[1]);
  CHECK(value[0] == Approx(2.5));  // neither state explains it better: the prior's mean
  group.values(scores, StatePrior(m.prompts.prior), std::vector<int>{-1, -1}, value);
  CHECK((std::isnan(value[0]) && std::isnan(value[1])));
  CHECK(group.weights()[0] == Approx(0.5));
}

TEST_CASE("values that differ by less than 1e-9 are equal, so that the group gets zeros") {
  ScoreModel m;
  m.scores = 2;
  m.prompts.prior = {1};
  m.likelihood = {0.5, 0.5};
  for (const double apart : {0.5e-9, 1e-6}) {
    m.expected = {1, 1 + apart};
    m.variance = {0, 0};
    const PosteriorScores scores(m);
    PosteriorGroup group(scores);
    std::vector<double> value(4);
    group.values(scores, StatePrior(m.prompts.prior), std::vector<int>{0, 1, 0, 1}, value);
    std::vector<float> out(4);
    BatchEstimator(*parse_estimator("grpo"), 10, 4).real(value.data(), 1, out.data());
    CHECK((out[0] == 0) == (apart < 1e-9));
  }
}

TEST_CASE("a prior moves towards what groups show, and moments tell a normal one") {
  std::mt19937 g(5);
  const ScoreModel m = random_model(g, true);
  StatePrior prior(m.prompts.prior);
  std::vector<double> seen(m.states(), 0.0);
  seen[0] = 1;
  prior.follow(seen, 0.9);
  for (std::size_t c = 0; c < m.states(); ++c) CHECK(prior.probability()[c] == Approx(0.9 * m.prompts.prior[c] + (c == 0 ? 0.1 : 0)));
  prior.set_moments(m.prompts, {1.5, 0.25, 0.36});
  double total = 0;
  std::vector<double> density;
  const double middle = 0.5 * std::log(0.36) - 0.4 * 0.4;
  for (std::size_t c = 0; c < m.states(); ++c) {
    const double b = (m.prompts.centre[c] - 1.5) / 0.5, s = (m.prompts.log_spread[c] - middle) / 0.4;
    total += density.emplace_back(std::exp(-b * b / 2) * std::exp(-s * s / 2));
  }
  for (std::size_t c = 0; c < m.states(); ++c) CHECK(prior.probability()[c] == Approx(density[c] / total));
}

TEST_CASE("a group of any size starts from the prior that moved: scores that tell nothing leave it as it is") {
  ScoreModel m;
  m.scores = 1;
  m.prompts.prior = {0.25, 0.75};
  m.likelihood = m.expected = m.variance = {1, 1};
  m.prompts.centre = {1, 2}, m.prompts.log_spread = {0, 0};
  m.prompts.log_spread_sd = 1;
  const PosteriorScores scores(m);
  PosteriorGroup group(scores);
  StatePrior prior(m.prompts.prior);
  const auto check = [&](double first) {
    for (const std::size_t members : {1, 32, 33, 400}) {
      std::vector<double> value(members);
      group.values(scores, prior, std::vector<int>(members, 0), value);
      INFO(members);
      CHECK(group.weights()[0] == Approx(first).epsilon(1e-12));
    }
  };
  check(0.25);
  prior.follow(std::vector{1.0, 0.0}, 0.5);
  check(0.625);
  prior.set_moments(m.prompts, {1, 1, std::exp(2.0)});  // log spread ~ N(0, 1): densities 1 and exp(-1/2)
  check(1 / (1 + std::exp(-0.5)));
}

TEST_CASE("a floor raises the deviation that a form divides by, and forms without one have no use for it") {
  // values 1, 2, 4, 9: deviations -3, -2, 0, 5, sum of squares 38; floor^2 = 2; the others of 9: 1, 2, 4 (variance 7/3)
  const std::vector<double> value{1, 2, 4, 9};
  const auto get = [&](const char* word, Compat compat, double floor) {
    EstimatorConfig c = form_of(*parse_estimator(word));
    c.compat = compat;
    std::vector<double> out(4);
    std::vector<float> fast(4);
    advantages(c, 10, value, no_median, out, floor);
    BatchEstimator(c, 10, 4).real(value.data(), &floor, 1, fast.data());
    for (std::size_t i = 0; i < 4; ++i) CHECK(static_cast<double>(fast[i]) == Approx(out[i]).epsilon(1e-6));
    return out;
  };
  CHECK(get("posterior(grpo)", Compat::paper, 2)[3] == Approx(5 / std::sqrt(38 / 4.0 + 2)));
  CHECK(get("posterior(grpo)", Compat::verl, 2)[3] == Approx(5 / (std::sqrt((38 + 4 * 2) / 3.0) + 1e-6)));
  CHECK(get("posterior(grpo)", Compat::nemo, 2)[3] == Approx((9 - 7 / 3.0) / (std::sqrt(7 / 3.0 + 2 * 3 / 2.0) + 1e-6)));
  CHECK(get("posterior(grpo)", Compat::paper, 0)[3] == Approx(5 / std::sqrt(38 / 4.0)));
  CHECK(get("posterior(mc-grpo)", Compat::paper, 3)[3] == Approx(7 / (std::sqrt(1 + 3.0) + mad_eps) * 4 / 3));  // distances 1, 0, 2, 7
  EstimatorConfig c = *parse_estimator("posterior(grpo)");
  CHECK(floor_squared(c, 0.25) == 0.25);
  c.floor = 0.5;
  CHECK(floor_squared(c, 9) == 0.25);
  for (const auto word : posterior_catalogue()) {
    const bool floors = word == "posterior(grpo)" || word == "posterior(mc-grpo)";
    CHECK(floor_squared(*parse_estimator(word), 0.25) == (floors ? 0.25 : 0));
  }
  CHECK(floor_squared(*parse_estimator("grpo"), 0.25) == 0);
}

TEST_CASE("what takes scores alone refuses a posterior estimator") {
  const EstimatorConfig config = *parse_estimator("posterior(grpo)");
  CHECK(config.posterior);
  CHECK(estimator_word(config) == "posterior(grpo)");
  CHECK_FALSE(parse_estimator("posterior(odrpo(grpo))"));
  CHECK_FALSE(parse_estimator("posterior"));
  std::vector<double> rewards{1, 2}, out(2);
  CHECK_THROWS_AS(advantages(config, 10, rewards, no_median, out), Failure);
  CHECK_THROWS_AS(BatchEstimator(config, 10, 8), Failure);
  for (const auto word : posterior_catalogue()) CHECK(parse_estimator(word)->posterior);
}

#if defined(__x86_64__)
TEST_CASE("the logarithm of a subnormal probability is that of none, flushed or not") {
  volatile double subnormal = 0x1p-1060;
  CHECK(log_of(subnormal) == log_never);
  const FlushSubnormals flush;
  CHECK(log_of(subnormal) == log_never);
  CHECK(log_of(0.5) == math::log(0.5));
}
#endif
