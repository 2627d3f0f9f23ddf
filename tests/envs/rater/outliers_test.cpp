// Outliers: draws and shares of levels against the noise models of suites.
#include "envs/rater/outliers.hpp"

#include <cmath>
#include <random>
#include <vector>

#include "envs/judge/latent/draw.hpp"
#include "tests/catch.hpp"
#include "tests/envs/judge/latent/latent_judges.hpp"

using namespace odrpo;

namespace {

Outliers some_of_each() {
  Outliers outliers;
  outliers[Outlier::mirror] = 0.1, outliers[Outlier::uniform] = 0.15, outliers[Outlier::high] = 0.08, outliers[Outlier::veto] = 0.3,
  outliers[Outlier::low] = 0.05;
  return outliers;
}

/// Shares of levels when every smooth score is `level`: what the channel of the suites' noise words makes of it, the mean over veto classes.
std::vector<double> channel_of(const Outliers& outliers, const std::vector<double>& smooth) {
  const auto levels = smooth.size();
  std::vector<double> sum(levels, 0.0);
  for (int ambiguous = -1; ambiguous < trait_classes; ++ambiguous) {
    const double veto = outliers[Outlier::veto], weight = ambiguous < 0 ? 1 - veto : veto / trait_classes;
    for (std::size_t k = 0; k < levels; ++k) {
      NumberRows matrix(levels, std::vector<double>(levels, 0.0));
      auto values = std::make_shared<std::vector<double>>(levels * levels, 0.0);
      for (std::size_t row = 0; row < levels; ++row) (*values)[row * levels + row] = 1;
      std::vector<Noise> list = noise_of(latent_judge(0.3, 0.4, 0, 0, static_cast<int>(levels), smooth), outliers);
      list.front() = Confusion{{static_cast<int>(levels), values}};
      Traits traits;
      traits.quality = static_cast<double>(k + 1), traits.veto_class = ambiguous;
      std::vector<double> row(levels);
      channel_row(list, traits, row);
      for (std::size_t l = 0; l < levels; ++l) sum[l] += weight * smooth[k] * row[l];
    }
  }
  return sum;
}

}  // namespace

TEST_CASE("outliers are noise models, in the order in which they change a score", "[latent]") {
  const LatentScale judge = single_judge();
  const auto list = noise_of(judge, some_of_each());
  REQUIRE(list.size() == 6);
  CHECK(std::get<LatentNoise>(list[0]).scale == judge);
  CHECK(std::get<MirrorFlip>(list[1]).p == 0.1);
  CHECK(std::get<UniformFlip>(list[2]).p == 0.15);
  CHECK(std::get<HighOutliers>(list[3]).p == 0.08);
  CHECK(std::get<Veto>(list[4]).share == 0.3);
  CHECK(std::get<LowOutliers>(list[5]).p == 0.05);
  CHECK(noise_of(judge, {}).size() == 1);
  CHECK(outlier_word(Outlier::veto) == "veto");
}

TEST_CASE("shares without outliers are those that the noise models make the shares of", "[latent]") {
  std::mt19937_64 random(20261126);
  for (int round = 0; round < 20; ++round) {
    Outliers outliers;
    for (const Outlier kind : all_outliers) outliers[kind] = round == 0 ? 0 : std::uniform_real_distribution<double>(0, 0.2)(random);
    std::vector<double> smooth(5);
    double sum = 0;
    for (double& s : smooth) sum += s = std::uniform_real_distribution<double>(0.05, 1)(random);
    for (double& s : smooth) s /= sum;
    const auto back = shares_without(outliers, 5, channel_of(outliers, smooth));
    INFO("seed 20261126, round " << round);
    for (std::size_t k = 0; k < 5; ++k) CHECK(back[k] == Approx(smooth[k]).epsilon(1e-9));
  }
}

TEST_CASE("drawn scores have the shares of levels of the noise models, and calls share a response's veto", "[latent]") {
  const Outliers outliers = some_of_each();
  const LatentScale judge = latent_judge(0.3, 0.4, 0, 0, 5, {0.1, 0.2, 0.3, 0.25, 0.15});
  const ScoreTable table = draw_scores(judge, ScoreShape{20'000, 4, 3}, 20261127, outliers).table;
  std::vector<double> share(5, 0.0);
  double both = 0;  // first two calls of a response are the lowest
  for (const auto& response : table.responses) {
    const auto level = table.levels_of(response);
    both += level[0] == 1 && level[1] == 1;
    for (const auto l : level) share[l - 1u] += 1.0 / static_cast<double>(table.level.size());
  }
  const auto expected = channel_of(outliers, {0.1, 0.2, 0.3, 0.25, 0.15});
  for (std::size_t k = 0; k < 5; ++k) CHECK(share[k] == Approx(expected[k]).margin(0.003));
  // veto alone: P(both) = share E[v^2] = share / 3 beside the judge's own
  Outliers veto;
  veto[Outlier::veto] = 0.3;
  const LatentScale never_low = latent_judge(0.3, 0.4, 0, 0, 5, {0, 0.3, 0.3, 0.25, 0.15});
  const ScoreTable drawn = draw_scores(never_low, ScoreShape{20'000, 4, 2}, 20261128, veto).table;
  both = 0;
  for (const auto& response : drawn.responses) both += drawn.levels_of(response)[0] == 1 && drawn.levels_of(response)[1] == 1;
  CHECK(both / static_cast<double>(drawn.responses.size()) == Approx(0.1).margin(0.004));
  // the same normals as without outliers
  const ScoreTable plain = draw_scores(never_low, ScoreShape{20'000, 4, 2}, 20261128).table;
  for (std::size_t i = 0; i < plain.level.size(); ++i) REQUIRE((drawn.level[i] == plain.level[i] || drawn.level[i] == 1));
}
