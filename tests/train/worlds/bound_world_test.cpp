// The problem of the best map against the policy that training has, its gradient, and the distribution of the judge.
#include "train/worlds/bound_world.hpp"

#include <atomic>

#include "config/catalogue/catalogue.hpp"
#include "envs/bandit/channel.hpp"
#include "envs/rater/rater.hpp"
#include "policies/softmax/policy.hpp"
#include "tests/catch.hpp"
#include "tests/preset.hpp"

using namespace odrpo;

namespace {

BoundWorld small_world(PolicyKind kind, double tilt) {
  BoundWorld of;
  of.env.prompts = 16, of.env.actions = 6, of.env.levels = 5, of.env.features = 3;
  of.rater = preset("mixed");
  of.policy.kind = kind;
  of.policy.tilt = tilt;
  of.batch = 16;
  of.key = 20261203;
  return of;
}

}  // namespace

TEST_CASE("bound: policy and gradient are those of training") {
  for (const PolicyKind kind : {PolicyKind::tabular, PolicyKind::linear})
    for (const double tilt : {0.0, 0.7}) {
      const BoundWorld of = small_world(kind, tilt);
      const bool linear = kind == PolicyKind::linear;
      CAPTURE(linear, tilt);
      const BoundProblem problem = bound_problem(of);
      REQUIRE(problem.prompts.size() == 16);
      CHECK(problem.shared == linear);

      const BanditWorld world = make_bandit(of.env, resolve_source(of.env, of.rater), of.key, linear);
      const PolicyShape shape{world.prompts, world.actions, world.width, 16, 8, world.features, linear ? world.feature.data() : nullptr};
      SoftmaxPolicy policy(kind, shape, OptimizerConfig{}, 1, Isa::portable);
      std::vector<double> fit;
      if (linear) fit = fit_linear(shape, world.quality.data());
      if (tilt > 0) policy.start_at(tilted_parameters(kind, shape, world.quality.data(), fit, tilt));
      std::vector<std::uint32_t> prompts(16);
      for (std::uint32_t p = 0; p < 16; ++p) prompts[p] = p;
      policy.forward(0, prompts.data());
      std::vector<float> gradient(static_cast<std::size_t>(policy.gradient_size()));
      policy.exact_gradient(world.quality.data(), gradient.data());
      for (std::size_t p = 0; p < 16; ++p) {
        const BoundPrompt& prompt = problem.prompts[p];
        double total = 0;
        for (std::size_t a = 0; a < 6; ++a) total += prompt.policy[a];
        CHECK(total == Approx(1).epsilon(1e-12));
        for (std::size_t d = 0; d < prompt.gradient.size(); ++d) {
          // of a tabular policy the rows of the batch's prompts, each 1/16 of the mean
          const double got = linear ? prompt.gradient[d] : prompt.gradient[d] / 16;
          const double want = gradient[linear ? d : p * static_cast<std::size_t>(world.width) + d];
          CHECK(got == Approx(want).epsilon(1e-4).margin(1e-6));
          double mean = 0;
          for (std::size_t a = 0; a < 6; ++a) mean += prompt.policy[a] * prompt.score[a * prompt.gradient.size() + d];
          CHECK(mean == Approx(0).margin(1e-12));
        }
      }
    }
}

TEST_CASE("bound: the law of a response is the one that training draws from, of one call and of a vote") {
  for (const int votes : {1, 8}) {
    BoundWorld of = small_world(PolicyKind::tabular, 0);
    of.votes = votes;
    const BoundProblem problem = bound_problem(of);
    const BanditWorld world = make_bandit(of.env, resolve_source(of.env, of.rater), of.key, false);
    DistributionCache distributions(of.rater, of.env.levels, votes);
    const std::atomic<bool> never{false};
    const RatedWorld rated = *rate_world(world, of.rater, votes, of.key, distributions, never);
    for (std::size_t p = 0; p < 16; ++p)
      for (std::size_t a = 0; a < 6; ++a) {
        const std::int32_t* t = rated.threshold.data() + rated.row[p * static_cast<std::size_t>(world.width) + a];
        double reach = 0;
        for (std::size_t k = 0; k < 4; ++k) {
          reach += problem.prompts[p].channel[a * 5 + k];
          CHECK(reach == Approx((static_cast<double>(t[k]) + 1) / 2147483648.0).margin(1e-12));
        }
      }
  }
}

TEST_CASE("bound: raters without a law of one whole score are refused") {
  RaterConfig rater = preset("mixed");
  CHECK(!whole_score_refusal(rater, 8));
  rater.aggregate = Aggregate::mean;
  CHECK(!whole_score_refusal(rater, 1));
  CHECK(whole_score_refusal(rater, 2));
  rater.aggregate = Aggregate::fraction;
  CHECK(whole_score_refusal(rater, 2));
  rater.aggregate = Aggregate::expected;
  CHECK(whole_score_refusal(rater, 1));
  rater = preset("mixed");
  rater.parse_failure = 0.1;
  CHECK(!whole_score_refusal(rater, 1));
  rater.parse_policy = ParsePolicy::drop;
  CHECK(whole_score_refusal(rater, 1));
  rater.parse_policy = ParsePolicy::zero;
  CHECK(whole_score_refusal(rater, 1));
  rater = preset("panel-essays");
  CHECK(!whole_score_refusal(rater, 1));
  CHECK(whole_score_refusal(rater, 2));
}
