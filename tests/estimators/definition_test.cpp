// The definitions on cases worked out by hand, and on degenerate groups.
#include "estimators/definition.hpp"

#include <array>
#include <cmath>
#include <vector>

#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

namespace {

using Values = std::vector<double>;

Values run(const char* word, const Values& rewards, int levels = 10, double eps = 0, int ddof = 0, MedianRule rule = MedianRule::lower,
           double median = no_median) {
  EstimatorConfig config = parse_estimator(word).value();
  config.eps = eps;
  config.ddof = ddof;
  config.median = rule;
  Values out(rewards.size());
  advantages(config, levels, rewards, median, out);
  return out;
}

void check_close(const Values& got, const Values& want, double tolerance = 1e-13) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::abs(got[i] - want[i]) <= tolerance * (1 + std::abs(want[i])));
}

}  // namespace

TEST_CASE("cardinal forms by hand") {
  check_close(run("reinforce", {2, 3, 2, 1}), {0, 1, 0, -1});
  check_close(run("rloo", {1, 7, 4}), {-4.5, 4.5, 0});
  check_close(run("grpo", {1, 3}), {-1, 1});
  check_close(run("grpo", {1, 3}, 10, 0, 1), {-std::sqrt(0.5), std::sqrt(0.5)});
  check_close(run("grpo", {1, 3}, 10, 1), {-0.5, 0.5});
  check_close(run("maxrl", {1, 2, 3}), {-0.5, 0, 0.5});
  check_close(run("maxrl", {1, 2, 3}, 10, 2), {-0.25, 0, 0.25});
  check_close(run("rank-grpo", {1, 9}), {-1, 1});
  check_close(run("rank-grpo", {5, 1, 5, 9}), {0, -std::sqrt(2.0), 0, std::sqrt(2.0)});
  check_close(run("convex-reinforce", {1, 2}), {-std::sqrt(0.5), std::sqrt(0.5)});
  check_close(run("convex-reinforce", {0, 1.5, -3}), {-(1 + std::sqrt(0.5)) / 3, 2 * (1 + std::sqrt(0.5)) / 3, -(1 + std::sqrt(0.5)) / 3});
}

TEST_CASE("odrpo by hand: rewards 1 3 3, two live levels with mu 2/3") {
  const double sigma = std::sqrt(2.0) / 3, variance = 2.0 / 9;
  check_close(run("odrpo(grpo)", {1, 3, 3}), {-4 / 3.0 / sigma, 2 / 3.0 / sigma, 2 / 3.0 / sigma});
  check_close(run("odrpo(maxrl)", {1, 3, 3}), {-2, 1, 1});
  check_close(run("odrpo-linear(maxrl)", {1, 3, 3}), {-5, 2.5, 2.5});
  const double gini = (std::sqrt(2.0) + std::sqrt(3.0)) * (0.1 + 4 * variance);
  check_close(run("odrpo-gini(maxrl)", {1, 3, 3}), {-gini, gini / 2, gini / 2});
  // the median 3 damps level 2 by e^-1/2 and level 3 not at all; a median of 5 damps both further
  const auto damped = [&](double m) {
    return std::sqrt(2.0) * (0.1 + 4 * variance * std::exp((2 - m) / 2)) + std::sqrt(3.0) * (0.1 + 4 * variance * std::exp((3 - m) / 2));
  };
  check_close(run("odrpo-gini-median(maxrl)", {1, 3, 3}), {-damped(3), damped(3) / 2, damped(3) / 2});
  check_close(run("odrpo-gini-median(maxrl)", {1, 3, 3}, 10, 0, 0, MedianRule::running, 5), {-damped(5), damped(5) / 2, damped(5) / 2});
  // eps joins the denominator of every level
  check_close(run("odrpo(maxrl)", {1, 3, 3}, 10, 1.0 / 3), {-4 / 3.0, 2 / 3.0, 2 / 3.0});
}

TEST_CASE("levels that nobody or everybody reaches add nothing") {
  for (const std::string_view word : estimator_catalogue()) {
    const EstimatorConfig config = parse_estimator(word).value();
    if (config.form != Form::odrpo) continue;
    Values few(4), many(4);
    const Values rewards = {2, 4, 4, 3};
    advantages(config, 4, rewards, no_median, few);
    advantages(config, 1000, rewards, no_median, many);
    CHECK(few == many);
  }
}

TEST_CASE("groups whose members are all equal give exact zeros in every form") {
  for (const std::string_view word : estimator_catalogue())
    for (const Values& rewards : {Values{}, Values{3}, Values{7, 7, 7, 7}, Values{0.1, 0.1, 0.1}, Values(33, 1e-9), Values{-2, -2}}) {
      if (word == "corpo" && !rewards.empty() && rewards[0] < 1) continue;  // below r_min
      for (const int ddof : {0, 1}) CHECK(run(std::string(word).c_str(), rewards, 10, 0, ddof) == Values(rewards.size(), 0.0));
    }
}

TEST_CASE("MaxRL has no relative deviation from a mean that is not positive") {
  CHECK(run("maxrl", {-1, 1, -2, 2}) == Values(4, 0.0));
  CHECK(run("maxrl", {-1, -3}) == Values(2, 0.0));
  CHECK(run("maxrl", {0.1, 0.2, -0.3}) == Values(3, 0.0));  // the sum is 0 but for rounding
  CHECK(run("maxrl", {-1, 1, 0.001})[0] != 0);
}

TEST_CASE("a mean is zero within rounding of doubles in the definition, and no further") {
  CHECK(run("maxrl", {-1, 1 + 1e-13}) == Values(2, 0.0));
  check_close(run("maxrl", {-1, 1 + 1e-10}), {-2 / 1e-10, 2 / 1e-10}, 1e-5);  // over half of 1e-10, known to six digits
}

TEST_CASE("rank-grpo adds eps to the deviation of ranks") {
  // 1 3 3 9 have the ranks 1, 2.5, 2.5, 4: mean 2.5, variance 4.5 / 4
  const double a = 1.5 / (std::sqrt(1.125) + 0.5);
  check_close(run("rank-grpo", {1, 3, 3, 9}, 10, 0.5), {-a, 0, 0, a});
}

TEST_CASE("ddof is of grpo's deviation alone") {
  for (const char* word : {"odrpo(grpo)", "odrpo-gini-median(maxrl)", "rank-grpo", "maxrl", "reinforce"})
    CHECK(run(word, {3, 7, 7, 9}, 10, 0, 1) == run(word, {3, 7, 7, 9}));
  CHECK(run("grpo", {3, 7, 7, 9}, 10, 0, 1) != run("grpo", {3, 7, 7, 9}));
}

TEST_CASE("medians by rule") {
  const Values even = {4, 1, 2, 8}, odd = {5, 1, 3};
  CHECK(group_median(even, MedianRule::lower) == 2);
  CHECK(group_median(even, MedianRule::mid) == 3);
  CHECK(group_median(even, MedianRule::upper) == 4);
  for (const auto rule : {MedianRule::lower, MedianRule::mid, MedianRule::upper}) CHECK(group_median(odd, rule) == 3);
  CHECK(std::isnan(group_median(Values{}, MedianRule::lower)));
  CHECK_THROWS_AS(group_median(odd, MedianRule::running), Failure);
  CHECK_THROWS_AS(run("odrpo-gini-median(grpo)", {1, 2}, 10, 0, 0, MedianRule::running), Failure);
  CHECK_NOTHROW(run("odrpo-gini(grpo)", {1, 2}, 10, 0, 0, MedianRule::running));
}

TEST_CASE("real rewards: gaps, steps at whole numbers, and nothing below 0 for weights") {
  check_close(run("odrpo(grpo)", {0.5, 0.5, 1.25, -0.75}),
              {0.28867513459481287, 0.28867513459481287, 2.0207259421636903, -2.598076211353316});
  CHECK(run("odrpo-linear(grpo)", {-7.8, -7.9, -3.3}) == Values(3, 0.0));
  check_close(run("odrpo-linear(maxrl)", {0.5, 2.5}), {-(0.5 + 2 + 1.5), 0.5 + 2 + 1.5});  // 1/2 of level 1, level 2, 1/2 of level 3
  CHECK_THROWS_AS(run("odrpo-gini(grpo)", {0.5, 2e6}), Failure);
  CHECK_NOTHROW(run("odrpo(grpo)", {0.5, 2e6}));
}

TEST_CASE("a common offset costs no digits") {
  const Values near = {0.25, 0.5, 1.0}, far = {1e9 + 0.25, 1e9 + 0.5, 1e9 + 1.0};
  for (const char* word : {"reinforce", "rloo", "grpo", "rank-grpo", "odrpo(grpo)", "odrpo(maxrl)"})
    check_close(run(word, far), run(word, near), 1e-15);
}

TEST_CASE("rewards of any magnitude: no square overflows or vanishes") {
  const Values plain = {0, 1, 0, 3};
  for (const double scale : {0x1p-1070, 1e-300, 1e-200, 1e-100, 1e100, 1e200, 5e307}) {
    Values rewards;
    for (const double r : plain) rewards.push_back(r * scale);
    CAPTURE(scale);
    for (const char* word : {"grpo", "rank-grpo", "maxrl"})
      for (const int ddof : {0, 1}) check_close(run(word, rewards, 10, 0, ddof), run(word, plain, 10, 0, ddof), 1e-14);
    const Values centred = run("reinforce", rewards);
    for (std::size_t i = 0; i < plain.size(); ++i) CHECK(centred[i] / scale == Approx(plain[i] - 1).margin(1e-15));
    Values batch = rewards;
    batch_normalize(batch, 0, 0);
    check_close(batch, run("grpo", plain), 1e-14);
  }
  check_close(run("grpo", {0, 1e-200, 0}), {-std::sqrt(0.5), std::sqrt(2.0), -std::sqrt(0.5)});
  check_close(run("grpo", {-1.7e308, 1.7e308}), {-1, 1});
  CHECK(run("reinforce", {-1.7e308, 1.7e308}) == Values{-1.7e308, 1.7e308});
  // eps is not scaled along: it drowns what is small and vanishes beside what is large
  check_close(run("grpo", {0, 2e-200}, 10, 1e-6), {-1e-194, 1e-194}, 1e-200);
  check_close(run("grpo", {0, 2e200}, 10, 1e-6), {-1, 1});
}

TEST_CASE("leave-one-out values") {
  EstimatorConfig config = parse_estimator("odrpo(grpo)").value();
  Values t(4), u(4);
  leave_one_out(config, 4, 3, no_median, t, u);
  for (int s = 0; s < 4; ++s) {
    CHECK(t[s] == Approx(std::sqrt((4 - s - 1) / (s + 1.0))).margin(1e-15));
    CHECK(u[s] == Approx(-std::sqrt(s / (4.0 - s))).margin(1e-15));
  }
  config = parse_estimator("odrpo-linear(maxrl)").value();
  leave_one_out(config, 4, 3, no_median, t, u);
  check_close(t, {9, 3, 1, 0});
  check_close(u, {0, -3, -3, -3});  // a level solved by nobody adds nothing
  Values one_t(1), one_u(1);
  leave_one_out(config, 1, 3, no_median, one_t, one_u);
  CHECK(one_t == Values{0});
  CHECK(one_u == Values{0});
}

TEST_CASE("batch normalisation") {
  Values batch = {1, 3};
  batch_normalize(batch, 0, 0);
  check_close(batch, {-1, 1});
  batch = {1, 3};
  batch_normalize(batch, 1, 0);
  check_close(batch, {-std::sqrt(0.5), std::sqrt(0.5)});
  batch = {0.1, 0.1, 0.1};
  batch_normalize(batch, 0, 0);
  CHECK(batch == Values(3, 0.0));
  batch = {5};
  batch_normalize(batch, 1, 0);
  CHECK(batch == Values{0});
}

TEST_CASE("groups that are none are refused, whatever the estimator") {
  const double inf = std::numeric_limits<double>::infinity();
  for (const std::string_view word : estimator_catalogue()) {
    CAPTURE(word);
    const EstimatorConfig config = estimator_named(word);
    std::vector<double> out(3);
    const auto group = [&](int levels, const std::vector<double>& rewards) { advantages(config, levels, rewards, no_median, out); };
    CHECK_NOTHROW(group(10, {1, 2, 3}));
    CHECK_THROWS_AS(group(0, {1, 2, 3}), Failure);
    CHECK_THROWS_AS(group(10, {1, 2}), Failure);
    CHECK_THROWS_AS(group(10, {1, 2, 3, 4}), Failure);
    CHECK_THROWS_AS(group(10, {}), Failure);
    CHECK_THROWS_AS(group(10, {1, 2, inf}), Failure);
    CHECK_THROWS_AS(group(10, {1, -inf, 2}), Failure);
    CHECK_THROWS_AS(group(10, {no_median, no_median, no_median}), Failure);
  }
}
