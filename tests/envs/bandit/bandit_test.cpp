// The bandit world: a hash of its key, with the moments its profile states.
#include <cmath>

#include "envs/bandit/world.hpp"
#include "envs/rater/rater.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

TEST_CASE("a world is a hash of its key: equal for equal keys, and with or without features") {
  BanditConfig c;
  c.prompts = 20;
  const BanditWorld a = make_bandit(c, {}, 1, true), b = make_bandit(c, {}, 1, true), other = make_bandit(c, {}, 2, true);
  CHECK(a.quality16 == b.quality16);
  CHECK(a.feature == b.feature);
  CHECK(a.quality16 != other.quality16);
  c.feature_share = 0;
  const BanditWorld with = make_bandit(c, {}, 1, true), without = make_bandit(c, {}, 1, false);
  CHECK(with.quality16 == without.quality16);
  CHECK(without.feature.empty());
  c.feature_share = 0.5;  // quality depends on features that need not be kept
  CHECK(make_bandit(c, {}, 1, true).quality16 == make_bandit(c, {}, 1, false).quality16);
  CHECK(make_bandit(c, {}, 1, false).feature.empty());
}

TEST_CASE("quality lives on its grid and inside 1..K, best and uniform are exact means") {
  for (int actions : {5, 32, 33}) {
    BanditConfig c;
    c.prompts = 30;
    c.actions = actions;
    const BanditWorld w = make_bandit(c, {}, 3, false);
    CHECK(w.width % 32 == 0);
    double best = 0, uniform = 0;
    for (int p = 0; p < 30; ++p) {
      double top = 0, sum = 0;
      for (int a = 0; a < w.width; ++a) {
        const double q = w.quality[p * w.width + a];
        CHECK(q * 16 == w.quality16[p * w.width + a]);
        if (a >= actions) {
          CHECK(q == 0);
          continue;
        }
        CHECK((q >= 1 && q <= 10));
        top = std::max(top, q);
        sum += q;
      }
      best += top / 30;
      uniform += sum / actions / 30;
    }
    CHECK(w.best == Approx(best));
    CHECK(w.uniform == Approx(uniform));
  }
  BanditConfig c;
  c.quality = QualityKind::integer;
  for (float q : make_bandit(c, {}, 3, false).quality) CHECK(q == std::floor(q));
}

TEST_CASE("the distribution of quality is the profile's: mean, sd over prompts, sd within prompts, explained share, hacks") {
  BanditConfig c;
  c.prompts = 4000;
  c.actions = 16;
  WorldProfile profile{5.5, 0.8, 0.5, 0.0, 0.0, 2.5};  // far from the ends: nothing is clipped
  const BanditWorld w = make_bandit(c, profile, 11, true);
  double sum = 0, between = 0, within = 0;
  std::vector<double> means(c.prompts);
  for (int p = 0; p < c.prompts; ++p) {
    for (int a = 0; a < 16; ++a) means[p] += w.quality[p * w.width + a] / 16;
    sum += means[p] / c.prompts;
    for (int a = 0; a < 16; ++a) within += std::pow(w.quality[p * w.width + a] - means[p], 2) / 15 / c.prompts;
  }
  for (double m : means) between += (m - sum) * (m - sum) / c.prompts;
  CHECK(sum == Approx(5.5).margin(0.05));
  CHECK(std::sqrt(within) == Approx(0.5).margin(0.01));
  CHECK(std::sqrt(between - within / 16) == Approx(0.8).margin(0.03));
  // features: variance 1/F each
  double square = 0;
  for (int p = 0; p < c.prompts; ++p)
    for (int f = 0; f < w.features; ++f)
      for (int a = 0; a < 16; ++a) square += std::pow(w.feature[(static_cast<std::size_t>(p) * w.features + f) * w.width + a], 2);
  CHECK(square / (c.prompts * 16.0) == Approx(1.0).margin(0.01));
  profile.hack_share = 0.1;
  const BanditWorld h = make_bandit(c, profile, 11, true);
  double hacks = 0, lost = 0;
  for (std::size_t i = 0; i < h.hack.size(); ++i)
    if (h.hack[i]) {
      ++hacks;
      lost += w.quality[i] - h.quality[i];
    }
  CHECK(hacks / (c.prompts * 16) == Approx(0.1).margin(0.005));
  CHECK(lost / hacks == Approx(2.5).margin(0.01));
}

TEST_CASE("profiles: the rater's numbers, overridden by explicit ones, mapped to other scales") {
  BanditConfig c;
  WorldProfile rater{7.4, 1.7, 0.7, 0.4, 0, 2.5};
  CHECK(resolve_profile(c, rater).mean == 7.4);
  c.overrides.mean = 4;
  CHECK(resolve_profile(c, rater).mean == 4);
  CHECK(resolve_profile(c, rater).mean_sd == 1.7);
  c.profile = ProfileSource::own;
  CHECK(resolve_profile(c, rater).mean_sd == 1.8);
  BanditConfig k5;
  k5.levels = 5;
  CHECK(resolve_profile(k5, rater).mean == Approx(1 + 6.4 * 4 / 9));
  CHECK(resolve_profile(k5, rater).spread == Approx(0.7 * 4 / 9));
}
