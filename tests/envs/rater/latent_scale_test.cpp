// The latent scale against its own definition: literal draws of places, lasting errors and calls.
#include "envs/rater/latent_scale.hpp"

#include <cmath>
#include <random>

#include "kernels/normal_nodes.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

namespace {

LatentScale panel() {
  LatentScale judge;
  judge.prompt_share = 0.4, judge.sigma = 0.5, judge.spread = 0.6, judge.judge_sigma = 0.3;
  return judge;
}

const std::vector<double> shares = {0.05, 0.15, 0.5, 0.3, /* a severe judge */ 0.3, 0.4, 0.2, 0.1};

/// A literal call of `judge` on a response at x.
int call(const LatentScale& scale, int judge, double x, double s, double u, double eps) {
  const double y = x + s * (scale.judge_sigma * u + scale.sigma * eps);
  int score = 1;
  for (const double t : scale.thresholds(judge)) score += y > t;
  return score;
}

}  // namespace

TEST_CASE("thresholds of a latent scale give the frequencies that they were set for", "[latent]") {
  LatentScale scale = panel();
  settle_thresholds(scale, 4, shares);
  REQUIRE(scale.judges() == 2);
  std::mt19937_64 random(20261123);
  std::normal_distribution<double> normal;
  const int n = 400'000;
  std::vector<double> seen(shares.size(), 0);
  for (int i = 0; i < n; ++i) {
    const double x = normal(random), s = std::exp(scale.spread * normal(random));
    for (int j = 0; j < 2; ++j) seen[j * 4 + call(scale, j, x, s, normal(random), normal(random)) - 1] += 1.0 / n;
  }
  for (std::size_t i = 0; i < shares.size(); ++i) CHECK(std::abs(seen[i] - shares[i]) < 4.5 * std::sqrt(shares[i] * (1 - shares[i]) / n));
}

TEST_CASE("the quality of a place is the mean of the scores that it gets", "[latent]") {
  LatentScale scale = panel();
  settle_thresholds(scale, 4, shares);
  const NormalNodes z = spread_nodes(scale);
  std::mt19937_64 random(20261124);
  std::normal_distribution<double> normal;
  const int n = 100'000;
  double before = 1;
  for (const double x : {-3.0, -1.0, 0.0, 0.7, 2.5}) {
    double sum = 0, squares = 0;
    for (int i = 0; i < n; ++i) {
      const double s = std::exp(scale.spread * normal(random));
      const int score = call(scale, i % 2, x, s, normal(random), normal(random));
      sum += score, squares += score * score;
    }
    const double mean = sum / n, error = std::sqrt((squares / n - mean * mean) / n), quality = quality_at(scale, z, x);
    INFO("x " << x << ", mean " << mean << ", error " << error);
    CHECK(std::abs(quality - mean) < 4.5 * error + 2e-4);
    CHECK(quality > before);
    CHECK(quality < 4);
    before = quality;
  }
}

TEST_CASE("a row of a latent scale is one of normal intervals", "[latent]") {
  const std::vector<double> thresholds = {-1, 0.5, 0.5};
  std::vector<double> row(4);
  score_row(thresholds, 0.25, 0.5, row);
  const auto below = [](double t) { return 0.5 * std::erfc(-(t - 0.25) / 0.5 / std::sqrt(2.0)); };
  CHECK(row[0] == Approx(below(-1)).epsilon(1e-12));
  CHECK(row[1] == Approx(below(0.5) - below(-1)).epsilon(1e-12));
  CHECK(row[2] == 0);
  CHECK(row[3] == Approx(1 - below(0.5)).epsilon(1e-12));
}
