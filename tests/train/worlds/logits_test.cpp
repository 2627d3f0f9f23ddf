// [record] logits: what a run says of its start's likeliest responses agrees with its entropy and quality, which are computed elsewhere.
#include <cmath>

#include "tests/catch.hpp"
#include "tests/train/trained.hpp"
#include "train/worlds/bandit.hpp"

namespace odrpo {
namespace {

double likely(double logit) { return 1 / (1 + std::exp(-logit)); }
double entropy(double logit) {
  const double p = likely(logit);
  return p > 0 && p < 1 ? -p * std::log(p) - (1 - p) * std::log1p(-p) : 0;
}

/// Two prompts with two responses each, so that mean and deviation of the logits are the two logits themselves.
RunSpec two_by_two(PolicyKind kind, double tilt, std::uint64_t seed) {
  RunSpec spec = small_run(kind);
  spec.env.bandit.prompts = spec.env.bandit.actions = spec.learn.batch = 2;
  spec.policy.tilt = tilt;
  spec.learn.steps = 40;
  spec.record.logits = 1;
  spec.run_key = derive_key(seed, 0);
  return spec;
}

}  // namespace

TEST_CASE("the rise of the start's likeliest responses explains entropy and quality") {
  for (const PolicyKind kind : {PolicyKind::tabular, PolicyKind::linear})
    for (const double tilt : {0.0, 0.8})
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        RunSpec spec = two_by_two(kind, tilt, seed);
        if (kind == PolicyKind::linear) spec.env.bandit.features = 2, spec.env.bandit.feature_share = 1;
        CAPTURE(int(kind), tilt, seed);
        RunCache cache;
        const auto problem = make_bandit_problem(spec, cache, Isa::portable, never);
        REQUIRE(problem);
        const BanditWorld& world = *problem->world;
        const std::vector<float> before = BanditRun(*problem).policy.exact_logits();
        const RunRecord r = train(spec, cache, never);
        REQUIRE(r.status == RunStatus::ok);
        const double mean = final_of(r, "logit_shift"), sd = final_of(r, "logit_spread");
        // which prompt rose more is not said: one of the two ways must fit both curves
        double worst = 1e9;
        for (const double sign : {-1.0, 1.0}) {
          double quality = 0, bits = 0;
          for (int p = 0; p < 2; ++p) {
            const float *l = &before[static_cast<std::size_t>(p * world.width)], *q = &world.quality[static_cast<std::size_t>(p * world.width)];
            const int best = l[1] > l[0] ? 1 : 0;
            const double logit = l[best] - l[1 - best] + mean + (p == 0 ? sign : -sign) * sd;
            quality += (likely(logit) * q[best] + (1 - likely(logit)) * q[1 - best]) / 2;
            bits += entropy(logit) / 2;
          }
          worst = std::min(worst, std::max(std::abs(quality - recorded_curve(r, "quality").values.back()), std::abs(bits - recorded_curve(r, "entropy").values.back())));
        }
        CHECK(worst < 2e-5);
        CHECK(sd >= 0);
        CHECK((std::abs(mean) > 1e-3 || sd > 1e-3));  // something was learned
      }
}

TEST_CASE("a policy that stays as it is moves no logit, and a policy that is sure has collapsed") {
  RunSpec spec = two_by_two(PolicyKind::tabular, 0.5, 3);
  spec.learn.optimizer.lr = 0;
  const RunRecord still = run(spec);
  CHECK(final_of(still, "logit_shift") == 0);
  CHECK(final_of(still, "logit_spread") == 0);
  CHECK(final_of(still, "entropy_collapse") == 0);
  spec.learn.optimizer.lr = 3, spec.learn.kl = 0, spec.learn.steps = 200;
  const RunRecord sure = run(spec);
  CHECK(recorded_curve(sure, "entropy").values.back() < recorded_curve(sure, "entropy").values.front() / 10);
  CHECK(final_of(sure, "entropy_collapse") == 1);
}

TEST_CASE("a run that keeps logits is the same run, and without the key there are none") {
  RunSpec spec = two_by_two(PolicyKind::linear, 0, 9);
  const RunRecord with = run(spec);
  spec.record.logits = 0;
  const RunRecord without = run(spec);
  for (const Curve& c : without.curves) CHECK(recorded_curve(with, c.name).values == c.values);
  CHECK(with.finals.size() == without.finals.size() + 3);
  CHECK_FALSE(has_final(without, "logit_shift"));
}

}  // namespace odrpo
