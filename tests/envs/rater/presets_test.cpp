// The numbers of every rater of the catalogue, written out once more: SCIENCE's tables of judges with one Kendall W and of stress noises.
#include <cmath>
#include <string>

#include "envs/rater/rater.hpp"
#include "tests/catch.hpp"

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
