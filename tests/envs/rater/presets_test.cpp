// The numbers of every rater of the catalogue, written out once more: SCIENCE's tables of judges with one Kendall W and of stress noises.
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "envs/judge/latent/draw.hpp"
#include "envs/rater/outliers.hpp"
#include "envs/rater/rater.hpp"
#include "tests/catch.hpp"
#include "tests/envs/judge/latent/latent_judges.hpp"

using namespace odrpo;

namespace {

struct Row {
  const char* word;
  double mean, mean_sd, spread, spread_sd;              // of the world: mu_b, s_b, s_r, tau
  double sigma, sigma_spread, mirror, high, veto, low;  // of the judge; 0 = the list has no such model
  double hack_share = 0;
};
constexpr Row rows[] = {
    {"mixed", 7.2, 1.8, 0.8, 0.40, 0.47, 0.20, 0, 0.002, 0.03, 0.010},
    {"veto", 7.4, 1.7, 0.7, 0.40, 0.39, 0.20, 0, 0, 0.08, 0.010},
    {"wide", 6.8, 2.6, 1.6, 0.40, 0.92, 0.20, 0, 0.005, 0.03, 0.010},
    {"gauss", 6.9, 1.8, 0.8, 0.45, 0.52, 0.25, 0, 0, 0, 0},
    {"clean", 7.2, 1.8, 0.8, 0.40, 0, 0, 0, 0, 0, 0},
    {"s2", 7.2, 1.8, 0.8, 0.40, 2, 0.20, 0, 0, 0, 0},
    {"hetero", 7.2, 1.8, 0.8, 0.40, 0.8, 0.9, 0, 0, 0, 0},
    {"low20", 7.2, 1.8, 0.8, 0.40, 0.47, 0.20, 0, 0, 0, 0.2},
    {"high10", 7.2, 1.8, 0.8, 0.40, 0.47, 0.20, 0, 0.1, 0, 0},
    {"flip10", 7.2, 1.8, 0.8, 0.40, 0.47, 0.20, 0.1, 0, 0, 0},
    {"hack", 7.2, 1.8, 0.8, 0.40, 0.47, 0.20, 0, 0.3, 0, 0, 0.1},
    {"hard", 3, 1.8, 0.8, 0.40, 0.47, 0.20, 0, 0.002, 0.03, 0.01},
    {"hardhigh", 3, 1.8, 0.8, 0.40, 0.47, 0.20, 0, 0.03, 0, 0},
    {"easy", 8.8, 1, 0.8, 0.40, 0.47, 0.20, 0, 0.002, 0.03, 0.01},
    {"easylow", 8.8, 1, 0.8, 0.40, 0.47, 0.20, 0, 0, 0, 0.1},
};

const RaterConfig* preset(const std::string& word) {
  for (const RaterPreset& p : rater_presets())
    if (p.word == word) return &p.config;
  return nullptr;
}

std::vector<double> numbers(const WorldProfile& w) { return {w.mean, w.mean_sd, w.spread, w.spread_sd, w.hack_share, w.hack_penalty}; }

}  // namespace

TEST_CASE("every preset has the numbers of its row, and its models in their order") {
  REQUIRE(rater_presets().size() == std::size(rows) + 3);  // the yardstick's and the panels' stand below
  for (const Row& row : rows) {
    CAPTURE(row.word);
    const RaterConfig* c = preset(row.word);
    REQUIRE(c != nullptr);
    CHECK(numbers(c->world) == std::vector<double>{row.mean, row.mean_sd, row.spread, row.spread_sd, row.hack_share, 2.5});
    // mirror, then high where not low, then the response's own veto, then low: what comes last has the last word
    std::vector<Noise> wanted{GaussianNoise{row.sigma, row.sigma_spread, GaussianForm::rounded}};
    if (row.mirror > 0) wanted.push_back(MirrorFlip{row.mirror});
    if (row.high > 0) wanted.push_back(HighOutliers{row.high, row.hack_share > 0 ? OutlierTarget::hack : OutlierTarget::all});
    if (row.veto > 0) wanted.push_back(Veto{row.veto});
    if (row.low > 0) wanted.push_back(LowOutliers{row.low, OutlierTarget::all});
    CHECK(c->noise == wanted);
    CHECK((c->tie == TieRule::first && c->aggregate == Aggregate::mode && c->sampling == Sampling::law && c->parse_failure == 0));
  }
  const RaterConfig* y = preset("yardstick");
  REQUIRE(y != nullptr);
  CHECK(numbers(y->world) == std::vector<double>{4.5, 1.2, 1.7, 0, 0, 2.5});
  CHECK(y->noise == std::vector<Noise>{GaussianNoise{1.0, 0.0, GaussianForm::lattice}, UniformFlip{0.055}});
  CHECK(y->tie == TieRule::lowest);
}

// mixed at quality 5 and the smallest sigma, which itself gives neither 1 nor 10: low 0.01 outranks high 0.002, which outranks the Gaussian
TEST_CASE("low outranks high, and high outranks what stood before") {
  std::vector<double> row(10);
  channel_row(preset("mixed")->noise, {.quality = 5, .spread_class = 0}, row);
  CHECK(row[9] == Approx(0.99 * 0.002).epsilon(1e-9));
  CHECK(row[0] == Approx(0.01).epsilon(1e-9));
}

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
