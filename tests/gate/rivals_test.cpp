// Two means and a threshold; the U test against enumeration of all orders; what `gate --self-test` prints of them.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "gate/decide/decide.hpp"
#include "gate/programs.hpp"
#include "tests/catch.hpp"
#include "tests/page.hpp"

using namespace odrpo;

namespace {

/// U of a: pairs in which a's value is larger, ties half.
double u_of(const std::vector<double>& a, const std::vector<double>& b) {
  double u = 0;
  for (const double x : a)
    for (const double y : b) u += x > y ? 1 : x == y ? 0.5 : 0;
  return u;
}

/// Two-sided p by enumeration: the share of ways to choose a's values among all whose U is as far from its mean.
double exact_p(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> all = a;
  all.insert(all.end(), b.begin(), b.end());
  std::vector<bool> of_a(all.size(), false);
  std::fill(of_a.end() - static_cast<std::ptrdiff_t>(a.size()), of_a.end(), true);
  const double centre = static_cast<double>(a.size() * b.size()) / 2, away = std::abs(u_of(a, b) - centre);
  int as_far = 0, count = 0;
  do {
    std::vector<double> x, y;
    for (std::size_t i = 0; i < all.size(); ++i) (of_a[i] ? x : y).push_back(all[i]);
    as_far += std::abs(u_of(x, y) - centre) >= away - 1e-9;
    ++count;
  } while (std::next_permutation(of_a.begin(), of_a.end()));
  return static_cast<double>(as_far) / count;
}

}  // namespace

TEST_CASE("gate rivals: two means and a threshold") {
  const std::vector<double> one = {1, 1, 1}, more = {1.06, 1.06, 1.06}, outlier = {1, 1, 1.3};
  CHECK(two_means_verdict(one, more, 0.05) == GateVerdict::slower);
  CHECK(two_means_verdict(more, one, 0.05) == GateVerdict::faster);
  CHECK(two_means_verdict(one, more, 0.10) == GateVerdict::same);
  CHECK(two_means_verdict(one, outlier, 0.05) == GateVerdict::slower);  // one interruption is enough
}

TEST_CASE("gate rivals: the U test is close to enumeration, with and without ties") {
  const unsigned seed = GENERATE(range(1u, 25u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  std::vector<double> a(8), b(7);
  const unsigned values = seed % 2 == 0 ? 6 : 1'000'000;  // few: many ties
  for (double& x : a) x = static_cast<double>(random() % values);
  for (double& x : b) x = static_cast<double>(random() % values) + (seed % 3 == 0 ? values / 2.0 : 0);
  CHECK(u_test_p(a, b) == Approx(exact_p(a, b)).margin(values == 6 ? 0.07 : 0.03));  // the approximation of 15 values
  CHECK(u_test_p(a, b) == Approx(u_test_p(b, a)));
}

TEST_CASE("gate rivals: edges of the U test") {
  CHECK(u_test_p(std::vector<double>{1, 1}, std::vector<double>{1, 1, 1}) == 1);
  CHECK(std::isnan(u_test_p(std::vector<double>{}, std::vector<double>{1})));
  // 1..10 against 11..20: U = 0, z = 49.5 / sqrt(175)
  std::vector<double> low, high;
  for (int i = 1; i <= 10; ++i) low.push_back(i), high.push_back(10 + i);
  CHECK(u_test_p(low, high) == Approx(std::erfc(49.5 / std::sqrt(175.0) / std::sqrt(2.0))).epsilon(1e-12));
}

TEST_CASE("gate: the text of a self-test", "[pages]") {
  const std::vector<double> none(4, 0.0), one = {1, 0, 0, 0}, three = {1, 1, 1, 0}, all(4, 1.0);
  SelfTest test;
  test.seconds = 12.4;
  test.rows = {{0, none, one, none, three, {none, none}, {one, all}, 0.5},
               {0.02, three, none, one, none, {none, one}, {all, all}, 0.25},
               {0.05, three, none, none, one, {one, three}, {all, all}, 0.125},
               {0.10, all, none, none, none, {all, all}, {all, all}, 0.0625}};
  check_page("gate/pages/self-test.txt", self_test_text(test, "AMD EPYC, 2 cores, load 0.3"));
}
