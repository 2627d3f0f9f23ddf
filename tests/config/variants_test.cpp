// Named variants: what they start from and what they change; noise lists and models set one by one.
#include <string>

#include "config/spec.hpp"
#include "envs/bandit/config.hpp"
#include "envs/rater/noise.hpp"
#include "envs/rater/rater.hpp"
#include "envs/rater/scored_responses.hpp"
#include "estimators/estimator.hpp"
#include "estimators/weights.hpp"
#include "tests/catch.hpp"
#include "tests/config/loading.hpp"

using namespace odrpo;

namespace {

RaterConfig rater(const std::string& keys) { return loaded(small_suite + "rater = \"r\"\n[rater.r]\n" + keys).runs[0].rater; }

}  // namespace

TEST_CASE("a variant is a copy of its base with some keys changed") {
  const auto suite = loaded(R"toml([suite]
name = "variants"
[grid]
env = "small"
estimator = ["gm-upper", "grpo"]
[estimator.gm-upper]
base = "odrpo-gini-median(maxrl)"
median = "upper"
[estimator.grpo]
ddof = 1
[env.small]
base = "bandit"
prompts = 64
mean = 3
quality = "integer"
)toml");
  const auto& gm = suite.runs[0];
  CHECK(gm.estimator_name == "gm-upper");
  CHECK(gm.estimator.form == Form::odrpo);
  CHECK(gm.estimator.weight == Weight::gini_median);
  CHECK(gm.estimator.norm == Norm::maxrl);
  CHECK(gm.estimator.median == MedianRule::upper);
  CHECK(suite.runs[1].estimator.ddof == 1);
  CHECK(gm.env.bandit.prompts == 64);
  CHECK(gm.env.bandit.actions == BanditConfig{}.actions);
  CHECK(gm.env.bandit.overrides.mean == 3);
  CHECK_FALSE(gm.env.bandit.overrides.spread.has_value());
  CHECK(gm.env.bandit.quality == QualityKind::integer);
}

TEST_CASE("a variant of a catalogue word may be written in quotes") {
  const auto suite = loaded(small_suite + "[estimator.\"odrpo_gini(grpo)\"]\neps = 1e-6\n", {"grid.estimator=odrpo-gini(grpo)"});
  CHECK(suite.runs[0].estimator_name == "odrpo-gini(grpo)");
  CHECK(suite.runs[0].estimator.eps == 1e-6);
}

TEST_CASE("a rater keeps its base's world and noise") {
  const auto r = rater("base = \"veto\"\ntie = \"highest\"\nsampling = \"draws\"\n");
  const auto base = loaded(small_suite + "rater = \"veto\"\n").runs[0].rater;
  CHECK(r.world.mean == base.world.mean);
  CHECK(r.noise.size() == base.noise.size());
  CHECK(r.tie == TieRule::highest);
  CHECK(r.sampling == Sampling::draws);
}

TEST_CASE("a noise list replaces the base's") {
  const auto r = rater(
      "noise = [{ model = \"gaussian\", form = \"lattice\" }, { model = \"low\", p = 0.1 }, { model = \"low\", p = 0.2, target = \"hack\" "
      "}]\nworld_hack_share = 0.1\n");
  REQUIRE(r.noise.size() == 3);
  CHECK(std::get<GaussianNoise>(r.noise[0]).form == GaussianForm::lattice);
  CHECK(std::get<LowOutliers>(r.noise[1]).p == 0.1);
  CHECK(std::get<LowOutliers>(r.noise[2]).target == OutlierTarget::hack);
  CHECK(r.world.mean == WorldProfile{}.mean);
  CHECK(rater("[[rater.r.noise]]\nmodel = \"gaussian\"\n[[rater.r.noise]]\nmodel = \"mirror\"\np = 0.1\n").noise.size() == 2);
}

TEST_CASE("a model's own keys change it in the list, or add it at the end") {
  const auto r = rater("base = \"gauss\"\ngaussian.sigma = 0.9\nuniform.p = 0.1\nlow.p = 0.2\n");
  REQUIRE(r.noise.size() == 3);
  CHECK(std::get<GaussianNoise>(r.noise[0]).sigma == 0.9);
  CHECK(std::get<GaussianNoise>(r.noise[0]).spread == 0.25);
  CHECK(std::get<UniformFlip>(r.noise[1]).p == 0.1);
  CHECK(std::get<LowOutliers>(r.noise[2]).p == 0.2);
  CHECK(rater("[rater.r.gaussian]\nsigma = 2\n").noise.size() == 1);
  const auto twice =
      refusal(small_suite + "[rater.r]\nlow.p = 0.3\nnoise = [{ model = \"gaussian\" }, { model = \"low\" }, { model = \"low\" }]\n");
  CHECK(twice.has("bad.toml:6:1: error: the noise list has several `low`"));
}
