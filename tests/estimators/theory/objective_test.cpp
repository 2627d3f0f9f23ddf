// Objectives: their gradient is the field, and finite groups tend to the closed limits.
#include <cmath>
#include <random>

#include "estimators/compat.hpp"
#include "estimators/definition.hpp"
#include "estimators/theory/field.hpp"
#include "estimators/weights.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"
#include "tests/estimators/theory/settings.hpp"

using namespace odrpo;

namespace {

EstimatorConfig config_of(const char* word) { return parse_estimator(word).value(); }

/// dH/dP by Richardson's extrapolation of central differences: good to about 1e-11 for polynomials of these degrees.
double slope_of(const EstimatorConfig& c, int level, int members, double reach) {
  const auto at = [&](double h) {
    return (level_potential(c, level, members, no_median, reach + h) - level_potential(c, level, members, no_median, reach - h)) / (2 * h);
  };
  const double h = 2e-3, a = at(h), b = at(h / 2), d = at(h / 4), e = at(h / 8);
  const double ab = (4 * b - a) / 3, bd = (4 * d - b) / 3, de = (4 * e - d) / 3;
  const double x = (16 * bd - ab) / 15, y = (16 * de - bd) / 15;
  return (64 * y - x) / 63;
}

}  // namespace

TEST_CASE("objective: its gradient is the field in the tangent space") {
  std::mt19937_64 g(20261126);
  for (const auto& values : {plain_values(5), std::vector<double>{1, 2, 12}})
    for (const int members : {2, 3, 8})
      for (const TheorySetting& s : every_setting(values, members)) {
        if (objective_refusal(s.estimator, members, no_median) || whole_only(s.estimator)) continue;  // of bits: bits_test.cpp
        CAPTURE(text_of(s.estimator), members, values.size());
        std::vector<double> p = simplex_point(g, values.size());
        for (double& x : p)
          x = 0.02 + x * (1 - 0.02 * static_cast<double>(p.size()));  // away from the edge, where differences would leave 0..1
        const std::vector<double> field = update_field(s, p), reach = reach_of(p), gaps = level_gaps(values);
        // dJ/dp_k = sum over m <= k of Delta_m H_m'(P_m); level 1 has none
        double gradient = 0, scale = 1;
        for (const double f : field) scale = std::max(scale, std::abs(f));
        for (std::size_t k = 1; k < p.size(); ++k) {
          gradient += gaps[k] * slope_of(s.estimator, static_cast<int>(k) + 1, members, reach[k - 1]);
          CHECK(std::abs(gradient - (field[k] - field[0])) < 1e-10 * scale);
        }
      }
}

TEST_CASE("objective: slopes of a level at M = 8, and its limit") {
  const EstimatorConfig c = config_of("odrpo(grpo)");
  CHECK(slope_of(c, 2, 8, 0.01) == Approx(2.61).margin(5e-3));
  CHECK(slope_of(c, 2, 8, 0.05) == Approx(2.47).margin(5e-3));
  CHECK(slope_of(c, 2, 8, 0.50) == Approx(1.86).margin(5e-3));
  for (const double reach : {0.01, 0.05, 0.5}) {
    const double h = 1e-6;
    const double slope = (limit_potential(c, 2, no_median, reach + h) - limit_potential(c, 2, no_median, reach - h)) / (2 * h);
    CHECK(slope == Approx(1 / std::sqrt(reach * (1 - reach))).epsilon(1e-7));
  }
}

TEST_CASE("objective: odrpo(maxrl) is a logarithm's series to order M - 1") {
  for (const int members : {2, 5, 8})
    for (const double reach : {0.0, 0.1, 0.7, 1.0}) {
      double want = 0;  // sum over j = 1..M-1 of (1 - (1-P)^j) / j
      for (int j = 1; j < members; ++j) want += (1 - std::pow(1 - reach, j)) / j;
      CHECK(level_potential(config_of("odrpo(maxrl)"), 3, members, no_median, reach) == Approx(want).epsilon(1e-13).margin(1e-14));
    }
}

TEST_CASE("objective: differences of potentials tend to those of the limit") {
  for (const char* word : {"odrpo(grpo)", "odrpo(maxrl)", "odrpo-linear(grpo)", "odrpo-gini(grpo)", "odrpo-gini(maxrl)",
                           "odrpo-gini-median(grpo)", "odrpo-gini-median(maxrl)"}) {
    const EstimatorConfig c = config_of(word);
    const double median = reads_median(c.weight) ? 6 : no_median;
    CAPTURE(word);
    double before = 1;
    for (const int members : {10, 100, 1000}) {
      const double finite = level_potential(c, 4, members, median, 0.7) - level_potential(c, 4, members, median, 0.3);
      const double limit = limit_potential(c, 4, median, 0.7) - limit_potential(c, 4, median, 0.3);
      const double error = std::abs(finite / limit - 1);
      CHECK(error < std::max(before / 5, 1e-12));  // of maxrl the rest falls as (1-P)^M
      before = error;
    }
    CHECK(before < 2e-3);
  }
}

TEST_CASE("objective: the paper's constant is 1/pi of the limit's") {
  const std::vector<double> values = {1, 2, 4}, reach = {0.81, 0.25};
  const double limit = 2 * (1 * std::asin(0.9) + 2 * std::asin(0.5));
  CHECK(objective(config_of("odrpo(grpo)"), values, 0, no_median, reach) == Approx(limit).epsilon(1e-14));
  CHECK(paper_objective(values, reach) == Approx(limit / std::acos(-1.0)).epsilon(1e-14));
}

TEST_CASE("objective: what has none is refused with the reason") {
  for (const char* word : {"grpo", "maxrl", "rank-grpo", "mc-grpo", "odrpo-gini-median(grpo)"}) {
    CAPTURE(word);
    const auto why = objective_refusal(config_of(word), 8, no_median);
    REQUIRE(why);
    CHECK(why->find("no scalar objective") != std::string::npos);
    CHECK_THROWS_AS(level_potential(config_of(word), 2, 8, no_median, 0.5), Failure);
  }
  EstimatorConfig prime = config_of("grpo");  // r - mean: that of reinforce
  prime.compat = Compat::prime;
  CHECK(!objective_refusal(prime, 8, no_median));
  CHECK(level_potential(prime, 2, 8, no_median, 0.5) == level_potential(config_of("reinforce"), 2, 8, no_median, 0.5));
  EstimatorConfig upper = config_of("odrpo-gini-median(grpo)");
  CHECK(!objective_refusal(upper, 2, no_median));
  CHECK(!objective_refusal(upper, 8, 5.0));
  upper.median = MedianRule::upper;
  CHECK(objective_refusal(upper, 2, no_median));
  CHECK(limit_refusal(config_of("reinforce"), no_median));
  EstimatorConfig verl = config_of("odrpo(grpo)");
  verl.compat = Compat::verl;
  CHECK(limit_refusal(verl, no_median));
  CHECK_THROWS_AS(limit_potential(verl, 2, no_median, 0.5), Failure);
}
