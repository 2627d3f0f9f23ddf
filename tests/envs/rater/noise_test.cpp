// Every noise model against literal simulation, and the composed presets against their stated properties.
#include "envs/rater/noise.hpp"

#include <cmath>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "envs/rater/rater.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

namespace {

std::vector<double> row_of(const std::vector<Noise>& list, const Traits& t, int levels) {
  std::vector<double> row(levels);
  channel_row(list, t, row);
  return row;
}

// One literal call of a judge: what the models say, step by step.
int literal_call(const std::vector<Noise>& list, const Traits& t, int levels, std::mt19937_64& g) {
  std::uniform_real_distribution<double> u(0, 1);
  std::normal_distribution<double> z(0, 1);
  const auto quantile = [](int i) { return (i + 0.5) / trait_classes; };
  // means of the eighths of a standard normal, scaled to variance 1 (computed with mpmath)
  const double z_class[] = {-1.6940433805640517, -0.92105532094948386, -0.50543651416188669, -0.16250554042753065,
                            0.16250554042753065, 0.50543651416188669,  0.92105532094948386,  1.6940433805640517};
  int score = 0;
  double quality = t.quality;
  for (const Noise& noise : list)
    if (const auto* o = std::get_if<SeverityOffset>(&noise)) quality += o->sd * z_class[t.offset_class];
    else if (const auto* b = std::get_if<SharedBias>(&noise)) quality += b->sd * z_class[t.bias_class];
  for (const Noise& noise : list) {
    if (const auto* n = std::get_if<GaussianNoise>(&noise)) {
      const double sigma = n->sigma * std::exp(n->spread * z_class[t.spread_class]);
      if (n->form == GaussianForm::rounded) {
        score = static_cast<int>(std::fmin(std::fmax(std::floor(quality + sigma * z(g) + 0.5), 1), levels));
      } else {
        std::vector<double> w(levels);
        for (int k = 0; k < levels; ++k) w[k] = std::exp(-0.5 * std::pow((k + 1 - quality) / sigma, 2));
        score = 1 + std::discrete_distribution<int>(w.begin(), w.end())(g);
      }
    } else if (const auto* c = std::get_if<Confusion>(&noise)) {
      const int row = static_cast<int>(std::fmin(std::fmax(std::floor(quality + 0.5), 1), levels));
      const double* p = c->matrix.values->data() + (row - 1) * levels;
      score = 1 + std::discrete_distribution<int>(p, p + levels)(g);
    } else if (const auto* f = std::get_if<UniformFlip>(&noise)) {
      if (u(g) < f->p) score = 1 + static_cast<int>(g() % levels);
    } else if (const auto* m = std::get_if<MirrorFlip>(&noise)) {
      if (u(g) < m->p) score = levels + 1 - score;
    } else if (const auto* h = std::get_if<HighOutliers>(&noise)) {
      if ((h->target == OutlierTarget::all || t.hack) && u(g) < h->p) score = levels;
    } else if (std::get_if<Veto>(&noise)) {
      if (t.veto_class >= 0 && u(g) < quantile(t.veto_class)) score = 1;
    } else if (const auto* l = std::get_if<LowOutliers>(&noise)) {
      if ((l->target == OutlierTarget::all || t.hack) && u(g) < l->p) score = 1;
    }
  }
  return score;
}

/// Row t gives t + 1 for the score t, a little for its neighbours, and one in ten for the middle.
Confusion confused(int levels) {
  auto m = std::make_shared<std::vector<double>>(levels * levels, 0.0);
  for (int t = 0; t < levels; ++t)
    for (int k = 0; k < levels; ++k)
      (*m)[t * levels + k] = (k == t ? 0.6 : 0) + (k == (t + 1) % levels ? 0.3 : 0) + (k == levels / 2 ? 0.1 : 0);
  return {{levels, std::move(m)}};
}

}  // namespace

TEST_CASE("channel rows are the law of the literal judge (chi-square), for every model and preset") {
  const unsigned seed = 20261120;
  INFO("seed " << seed);
  std::mt19937_64 g(seed);
  std::vector<std::vector<Noise>> lists = {
      {GaussianNoise{0.8, 0.3, GaussianForm::rounded}},
      {GaussianNoise{1.0, 0.0, GaussianForm::lattice}},
      {GaussianNoise{0.0, 0.0, GaussianForm::rounded}, UniformFlip{0.2}},
      {GaussianNoise{0.7, 0.0, GaussianForm::rounded}, MirrorFlip{0.3}},
      {GaussianNoise{0.7, 0.0, GaussianForm::rounded}, HighOutliers{0.3, OutlierTarget::hack}, LowOutliers{0.2, OutlierTarget::all}},
      {GaussianNoise{0.7, 0.0, GaussianForm::rounded}, Veto{0.1}},
      {confused(10), LowOutliers{0.2, OutlierTarget::hack}},
      {confused(10), SeverityOffset{2.0}},
      {SeverityOffset{0.9}, GaussianNoise{0.7, 0.2, GaussianForm::rounded}, MirrorFlip{0.1}},
      {GaussianNoise{1.0, 0.0, GaussianForm::lattice}, Veto{0.1}, SeverityOffset{0.4}},
      {GaussianNoise{0.6, 0.0, GaussianForm::rounded}, SharedBias{0.7}, SeverityOffset{0.4}},
  };
  for (const RaterPreset& preset : rater_presets())
    if (rater_levels(preset.config) == 0) lists.push_back(preset.config.noise);
  for (std::size_t i = 0; i < lists.size(); ++i) {
    for (const Traits& t : {Traits{6.4375, 2, -1, false, 1, 6}, Traits{9.75, 7, 5, true, 6, 0}}) {
      const int levels = 10, calls = 20000;
      const std::vector<double> row = row_of(lists[i], t, levels);
      CHECK(std::accumulate(row.begin(), row.end(), 0.0) == Approx(1.0).epsilon(1e-13));
      std::vector<long> seen(levels, 0);
      for (int c = 0; c < calls; ++c) ++seen[literal_call(lists[i], t, levels, g) - 1];
      double chi2 = 0;
      int cells = 0;
      for (int k = 0; k < levels; ++k) {
        const double want = row[k] * calls;
        if (want < 1e-6) CHECK(seen[k] == 0);
        if (want > 4) {
          chi2 += (seen[k] - want) * (seen[k] - want) / want;
          ++cells;
        }
      }
      INFO("list " << i << " quality " << t.quality << " chi2 " << chi2 << " over " << cells);
      CHECK(chi2 < cells + 5 * std::sqrt(2.0 * cells) + 5);
    }
  }
}

TEST_CASE("a Gaussian of sd 0 rounds a half up, the lattice form of sd 0 too, tails stay positive and sum to 1") {
  for (GaussianForm form : {GaussianForm::rounded, GaussianForm::lattice}) {
    CHECK(row_of({GaussianNoise{0, 0, form}}, {.quality = 2.5}, 5)[2] == 1);
    CHECK(row_of({GaussianNoise{0, 0, form}}, {.quality = 0.2}, 5)[0] == 1);
    CHECK(row_of({GaussianNoise{0, 0, form}}, {.quality = 7}, 5)[4] == 1);
    const std::vector<double> far = row_of({GaussianNoise{0.3, 0, form}}, {.quality = 1}, 10);
    CHECK(far[0] > 0.9);
    CHECK(far[9] >= 0);
  }
}

TEST_CASE("score = low with p_low, else high with p_high, else the Gaussian's") {
  const std::vector<double> plain = row_of({GaussianNoise{0.5, 0, GaussianForm::rounded}}, {.quality = 5}, 10);
  const std::vector<double> row =
      row_of({GaussianNoise{0.5, 0, GaussianForm::rounded}, HighOutliers{0.1}, LowOutliers{0.2}}, {.quality = 5}, 10);
  CHECK(row[0] == Approx(0.2 + 0.8 * 0.9 * plain[0]));
  CHECK(row[9] == Approx(0.8 * (0.1 + 0.9 * plain[9])));
  CHECK(row[4] == Approx(0.8 * 0.9 * plain[4]));
}

TEST_CASE("the mirror keeps the mass of an odd scale's middle level") {
  const std::vector<double> row = row_of({GaussianNoise{0, 0, GaussianForm::rounded}, MirrorFlip{0.25}}, {.quality = 3}, 5);
  CHECK(row[2] == 1);
  const std::vector<double> side = row_of({GaussianNoise{0, 0, GaussianForm::rounded}, MirrorFlip{0.25}}, {.quality = 2}, 5);
  CHECK(side[1] == 0.75);
  CHECK(side[3] == 0.25);
}

TEST_CASE("a confusion row is that of floor(q + 1/2), clipped, and a matrix of another size is refused") {
  const Confusion judge = confused(5);
  const auto row = [&](double q) { return row_of({judge}, {.quality = q}, 5); };
  const auto given = [&](int level) {
    return std::vector<double>(judge.matrix.values->begin() + 5 * (level - 1), judge.matrix.values->begin() + 5 * level);
  };
  CHECK(row(1) == given(1));
  CHECK(row(2.4375) == given(2));
  CHECK(row(2.5) == given(3));
  CHECK(row(-3) == given(1));
  CHECK(row(9) == given(5));
  CHECK(noise_levels(std::vector<Noise>{judge}) == 5);
  std::vector<double> wide(6);
  CHECK_THROWS_AS(channel_row(std::vector<Noise>{judge}, {.quality = 2}, wide), Failure);
  CHECK_THROWS_AS(channel_row(std::vector<Noise>{Confusion{}}, {.quality = 2}, wide), Failure);
}

TEST_CASE("an offset moves the quality by its class, wherever it stands, and of sd 0 it changes no bit") {
  const GaussianNoise gauss{0.5, 0.3, GaussianForm::rounded};
  for (int c = 0; c < trait_classes; ++c) {
    const Traits t{5.25, 3, -1, false, c};
    CHECK(row_of({gauss, SeverityOffset{0}}, t, 10) == row_of({gauss}, t, 10));
    const std::vector<double> after = row_of({gauss, SeverityOffset{0.8}}, t, 10);
    CHECK(row_of({SeverityOffset{0.8}, gauss}, t, 10) == after);
    if (c == 7) {
      Traits moved = t;
      moved.quality += 0.8 * 1.6940433805640517;
      const std::vector<double> want = row_of({gauss}, moved, 10);
      for (int k = 0; k < 10; ++k) CHECK(after[k] == Approx(want[k]).epsilon(1e-9));
    }
  }
}

TEST_CASE("a bias moves the quality by the class of the response, as an offset does by that of the prompt") {
  const GaussianNoise gauss{0.5, 0.3, GaussianForm::rounded};
  LatentNoise latent;
  latent.scale.sigma = 0.4;
  settle_thresholds(latent.scale, 10, std::vector<double>(10, 0.1));
  for (const Noise& first : {Noise{gauss}, Noise{latent}})
    for (int c = 0; c < trait_classes; ++c) {
      const Traits t{.quality = 5.25, .spread_class = 3, .bias_class = c}, other{.quality = 5.25, .spread_class = 3, .offset_class = c};
      CHECK(row_of({first, SharedBias{0}}, t, 10) == row_of({first}, t, 10));
      CHECK(row_of({first, SharedBias{0.8}}, t, 10) == row_of({first, SeverityOffset{0.8}}, other, 10));
      CHECK(row_of({first, Veto{0.1}, SharedBias{0.8}}, t, 10) == row_of({first, SharedBias{0.8}, Veto{0.1}}, t, 10));
      CHECK(row_of({first, SharedBias{0.8}}, t, 10) != row_of({first}, t, 10));
    }
}

TEST_CASE("presets are found by word, start with a distribution and have different words") {
  for (const RaterPreset& a : rater_presets()) {
    REQUIRE(!a.config.noise.empty());
    CHECK(makes_distribution(a.config.noise.front()));
    int same = 0;
    for (const RaterPreset& b : rater_presets()) same += a.word == b.word;
    CHECK(same == 1);
  }
}
