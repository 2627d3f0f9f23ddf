// The curl: the fast form against the literal condition, against numerical differentiation, and the figures that the paper discusses.
#include <cmath>
#include <random>

#include "estimators/compat.hpp"
#include "estimators/theory/field.hpp"
#include "estimators/theory/setting.hpp"
#include "estimators/weights.hpp"
#include "tests/catch.hpp"
#include "tests/estimators/theory/settings.hpp"

using namespace odrpo;

namespace {

/// Both means, from the literal condition at every s, i and j.
MeanCurl literal_mean(const TheorySetting& s) {
  MeanCurl mean;
  double pairs = 0;
  const int levels = s.levels();
  for_each_histogram(levels, s.members - 2, [&](std::span<const int> others) {
    mean.histograms += 1;
    for (int i = 0; i < levels; ++i)
      for (int j = 0; j < levels; ++j) {
        const double c = std::abs(curl_at(s, others, i, j));
        mean.all += c;
        if (i < j && j < levels - 1) pairs += c;
      }
  });
  mean.all /= mean.histograms * levels * levels;
  mean.pairs = pairs / (mean.histograms * (levels - 1) * (levels - 2) / 2);
  return mean;
}

/// dF_i/dp_j - dF_j/dp_i in the coordinates p_1..p_(K-1), p_K = 1 minus their sum: what the curl of h is there, by central differences.
double numerical_curl(const TheorySetting& s, const std::vector<double>& p, std::size_t i, std::size_t j) {
  const double step = 1e-5;
  const std::size_t last = p.size() - 1;
  const auto slope = [&](std::size_t of, std::size_t by) {
    std::vector<double> up = p, down = p;
    up[by] += step, up[last] -= step, down[by] -= step, down[last] += step;
    const auto f = update_field(s, up), g = update_field(s, down);
    return ((f[of] - f[last]) - (g[of] - g[last])) / (2 * step);
  };
  return slope(i, j) - slope(j, i);
}

}  // namespace

TEST_CASE("curl: the fast mean equals the literal one") {
  for (const auto& values : {plain_values(3), plain_values(4), std::vector<double>{1, 2, 12}})
    for (const int members : {2, 3, 6})
      for (const TheorySetting& s : every_setting(values, members)) {
        CAPTURE(text_of(s.estimator), values.size(), members);
        const MeanCurl fast = mean_absolute_curl(s), literal = literal_mean(s);
        CHECK(fast.histograms == literal.histograms);
        CHECK(std::abs(fast.all - literal.all) <= 1e-11 * (1 + literal.all));
        CHECK(std::abs(fast.pairs - literal.pairs) <= 1e-11 * (1 + literal.pairs));
        const double k = s.levels();  // the two definitions differ by a factor of K alone
        CHECK(std::abs(fast.pairs * (k - 1) * (k - 2) - fast.all * k * k) <= 1e-11 * (1 + fast.all));
      }
}

TEST_CASE("curl: of two levels there is none") {
  const MeanCurl mean = mean_absolute_curl(setting_of("grpo", 2, 8));
  CHECK(mean.all == 0);
  CHECK(std::isnan(mean.pairs));
}

TEST_CASE("curl: the curl of the field is M - 1 times the mean of C_ij") {
  std::mt19937_64 g(20261125);
  for (const char* word :
       {"grpo", "maxrl", "rank-grpo", "odrpo(grpo)", "odrpo-gini(maxrl)", "odrpo-gini-median(grpo)", "odrpo-gini-median(maxrl)"})
    for (const int members : {2, 3, 5, 8}) {
      const TheorySetting s = setting_of(word, 4, members);
      const std::vector<double> p = simplex_point(g, 4), curl = field_curl(s, p);
      CAPTURE(word, members);
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j)
          CHECK(std::abs(curl[i * 4 + j] - numerical_curl(s, p, i, j)) < 1e-6 * (1 + std::abs(curl[i * 4 + j])));
      for (std::size_t i = 0; i < 4; ++i) CHECK(curl[i * 4 + 3] == 0);
    }
}

TEST_CASE("curl: grpo -2 and maxrl -1/15 in pairs of three levels") {
  const int none[3] = {0, 0, 0};
  CHECK(curl_at(setting_of("grpo", 3, 2), none, 0, 1) == Approx(-2).epsilon(1e-14));
  CHECK(curl_at(setting_of("maxrl", 3, 2), none, 0, 1) == Approx(-1 / 15.0).epsilon(1e-14));
}

TEST_CASE("curl: zero for every sum over levels whose terms read (k, mu_k) alone") {
  for (const auto& values : {plain_values(5), std::vector<double>{1, 2, 12}})
    for (const TheorySetting& s : every_setting(values, 6)) {
      const bool of_levels = row_of(s.estimator.form).basis == Basis::level || whole_only(s.estimator) || s.estimator.form == Form::rloo ||
                             followed_form(s.estimator) == Form::reinforce || s.estimator.form == Form::corpo;
      const bool median = s.estimator.form == Form::odrpo && reads_median(s.estimator.weight);
      CAPTURE(text_of(s.estimator));
      const MeanCurl literal = literal_mean(s);
      if (of_levels && !median) CHECK(literal.all < 1e-12);
      else CHECK(literal.all > 1e-5);
    }
  // M = 2: the lower median is below every level that tells the two apart
  CHECK(mean_absolute_curl(setting_of("odrpo-gini-median(grpo)", 5, 2)).all < 1e-14);
}

TEST_CASE("curl: mean absolute curl by K at M = 8, to the printed digits") {
  const struct {
    const char* word;
    int levels;
    double all, pairs, half;
  } rows[] = {{"grpo", 3, .133, .600, 5e-4},
              {"grpo", 5, .198, .412, 5e-4},
              {"grpo", 8, .214, .327, 5e-4},
              {"grpo", 10, .218, .302, 5e-4},
              {"maxrl", 3, .0011, .005, 5e-4},
              {"maxrl", 5, .0032, .007, 5e-4},
              {"maxrl", 8, .0050, .008, 5e-4},
              {"maxrl", 10, .0058, .008, 5e-4},
              {"odrpo-gini-median(grpo)", 10, .293, .407, 5e-4},
              {"odrpo-gini-median(maxrl)", 10, .191, .265, 5e-4}};
  for (const auto& row : rows) {
    const MeanCurl mean = mean_absolute_curl(setting_of(row.word, row.levels, 8));
    CAPTURE(row.word, row.levels);
    CHECK(std::abs(mean.all - row.all) < row.half);
    CHECK(std::abs(mean.pairs - row.pairs) < row.half);
  }
}

TEST_CASE("curl: of the field at (.2, .3, .5) by M, to the printed digits") {
  const std::vector<double> p = {0.2, 0.3, 0.5};
  const int members[] = {2, 4, 8, 16, 32, 64, 128};
  const double grpo[] = {2.00, 3.04, 2.91, 2.50, 2.28, 2.18, 2.14}, maxrl[] = {.067, .043, .0215, .011, .005, .003, .001};
  for (std::size_t n = 0; n < 7; ++n) {
    CAPTURE(members[n]);
    CHECK(std::abs(std::abs(field_curl(setting_of("grpo", 3, members[n]), p)[1]) - grpo[n]) <= 0.005);
    CHECK(std::abs(std::abs(field_curl(setting_of("maxrl", 3, members[n]), p)[1]) - maxrl[n]) <= 0.0005);
  }
}

TEST_CASE("curl: the circulation around a small triangle is the curl times its area") {
  const double corner = 1 / 3.0 - 0.01, side = 1 - 3 * corner;
  const std::vector<double> centre(3, 1 / 3.0);
  for (const char* word : {"grpo", "maxrl", "odrpo-gini-median(grpo)", "odrpo(grpo)"}) {
    const TheorySetting s = setting_of(word, 3, 8);
    // in the coordinates p_1, p_2 the triangle has the area side^2 / 2
    const double want = std::abs(field_curl(s, centre)[1]) * side * side / 2;
    CAPTURE(word);
    CHECK(triangle_circulation(s, corner).along == Approx(want).epsilon(2e-3).margin(1e-15));
  }
}

TEST_CASE("theory: the relative curl against a Jacobian by numerical differentiation") {
  std::mt19937_64 g(20261202);
  for (const char* word : {"grpo", "maxrl", "odrpo-gini-median(grpo)", "rank-grpo", "odrpo-linear(grpo)"}) {
    const TheorySetting s = setting_of(word, 4, 5);
    CAPTURE(word);
    const std::vector<double> p = simplex_point(g, 4);
    const double h = 1e-5;
    double turning = 0, all = 0, j[3][3];
    // by the tangent space's orthonormal basis (1,-1,0,0)/sqrt 2, (1,1,-2,0)/sqrt 6, (1,1,1,-3)/sqrt 12
    const double basis[3][4] = {{1, -1, 0, 0}, {1, 1, -2, 0}, {1, 1, 1, -3}}, square[3] = {2, 6, 12};
    for (std::size_t b = 0; b < 3; ++b) {
      std::vector<double> up = p, down = p;
      for (std::size_t k = 0; k < 4; ++k) up[k] += h * basis[b][k] / std::sqrt(square[b]), down[k] -= h * basis[b][k] / std::sqrt(square[b]);
      const auto above = update_field(s, up), below = update_field(s, down);
      for (std::size_t a = 0; a < 3; ++a) {
        j[a][b] = 0;
        for (std::size_t k = 0; k < 4; ++k) j[a][b] += basis[a][k] / std::sqrt(square[a]) * (above[k] - below[k]) / (2 * h);
      }
    }
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < 3; ++b) turning += (j[a][b] - j[b][a]) * (j[a][b] - j[b][a]) / 4, all += j[a][b] * j[a][b];
    CHECK(relative_curl(s, p) == Approx(std::sqrt(turning / all)).margin(1e-8));
  }
  const std::vector<double> uneven = {0.3, 0.7}, half = {0.5, 0.5};
  CHECK(relative_curl(setting_of("grpo", 2, 4), uneven) == Approx(0).margin(1e-14));
  CHECK(std::isnan(relative_curl(setting_of("grpo", 2, 4), half)));  // by symmetry nothing changes there
}
