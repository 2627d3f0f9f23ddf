// The measure of gradients as final values, and what it needs: policies that start tilted, policies that stay as they are, paired draws.
#include <cmath>
#include <cstring>
#include <vector>

#include "config/spec.hpp"
#include "tests/catch.hpp"
#include "tests/train/trained.hpp"
#include "train/batched/engine.hpp"
#include "train/curves.hpp"
#include "train/run_record.hpp"
#include "train/worlds/bandit.hpp"

using namespace odrpo;

namespace {

/// A run that measures gradients at a fixed policy.
RunSpec fixed_run(PolicyKind policy, const std::string& estimator, double tilt) {
  RunSpec spec = small_run(policy, estimator);
  spec.policy.tilt = tilt;
  spec.learn.optimizer.lr = 0;
  spec.learn.steps = 12;
  spec.record.every = 1;
  spec.record.gradient = 4;
  return spec;
}

/// Mean over prompts of sum_a pi_a q_a with pi ~ exp(tilt q), in double.
double tilted_quality(const BanditWorld& w, double tilt) {
  double mean = 0;
  for (int p = 0; p < w.prompts; ++p) {
    const float* q = &w.quality[static_cast<std::size_t>(p) * w.width];
    double sum = 0, all = 0;
    for (int a = 0; a < w.actions; ++a) {
      const double weight = std::exp(tilt * (static_cast<double>(q[a]) - 10));
      sum += weight * static_cast<double>(q[a]);
      all += weight;
    }
    mean += sum / all / w.prompts;
  }
  return mean;
}

}  // namespace

TEST_CASE("each redraw of a batch has random words of its own, which begin where those of the redraw before it end") {
  RunSpec spec = small_run(PolicyKind::tabular, "grpo", 8);
  spec.rater.sampling = Sampling::draws;
  RunCache shared;
  const BanditProblem problem = *make_bandit_problem(spec, shared, best_isa(), never);
  BanditRun s(problem);
  train_step(s, 0, {.update = false}, never);
  const auto actions = static_cast<std::uint32_t>(problem.action_blocks), votes = static_cast<std::uint32_t>(spec.learn.rollouts * 2);
  for (std::uint32_t r = 0; r < 3; ++r) {
    s.draw_actions(0, Draws::replicas(static_cast<int>(r)));
    s.draw_scores(0, Draws::replicas(static_cast<int>(r)));
    for (std::uint32_t b = 0; b < s.step.prompt.size(); ++b)
      for (std::uint32_t i = 0; i < actions; ++i)
        CHECK(s.word[(b * actions + i) * 4] == draw(spec.run_key, Purpose::replica_action, 0, s.step.prompt[b], r * actions + i).x[0]);
    REQUIRE(s.vote_word.size() == votes * 4);  // of the last prompt
    for (std::uint32_t i = 0; i < votes; ++i)
      CHECK(s.vote_word[i * 4] == draw(spec.run_key, Purpose::replica_vote, 0, s.step.prompt.back(), r * votes + i).x[0]);
  }
}

TEST_CASE("gradient_cosine and gradient_snr of a run are means of its curves, final_ ones their ends, NaN where there is no number") {
  RunSpec spec = small_run(PolicyKind::linear, "maxrl");
  spec.record.gradient = 3;
  const RunRecord r = run(spec);
  for (const std::string name : {"gradient_cosine", "gradient_snr"}) {
    double sum = 0, n = 0;
    for (const double x : recorded_curve(r, name).values)
      if (!std::isnan(x)) sum += x, n += 1;
    REQUIRE(n > 1);
    CHECK(final_of(r, name) == Approx(sum / n).epsilon(1e-13));
    CHECK(final_of(r, "final_" + name) == recorded_curve(r, name).values.back());
  }
  spec.record.gradient = 1;  // a variance needs two redraws
  const RunRecord one = run(spec);
  CHECK(std::isfinite(final_of(one, "gradient_cosine")));
  CHECK(std::isnan(final_of(one, "gradient_snr")));
  CHECK(std::isnan(final_of(one, "final_gradient_snr")));
  spec.record.gradient = 0;
  const RunRecord none = run(spec);
  for (const char* name : {"gradient_cosine", "gradient_snr", "final_gradient_cosine", "final_gradient_snr"}) CHECK(!has_final(none, name));
}

TEST_CASE("steps without a number take no part in the mean") {
  RunSpec spec = small_run();
  spec.record.gradient = 2;
  RunRecord r = begin_record(spec);
  const double nan = std::nan("");
  for (const double cosine : {nan, 0.25, nan, 0.75, nan}) {
    r.step.push_back(static_cast<int>(r.step.size()));
    for (const CurveId id : {CurveId::quality, CurveId::reward, CurveId::kl, CurveId::entropy}) add_value(r, spec, id, 5);
    add_value(r, spec, CurveId::gradient_cosine, cosine);
    add_value(r, spec, CurveId::gradient_snr, nan);
  }
  r.seconds.assign(r.step.size() * stage_count, 0.0f);
  close_record(r, spec, {5, 6}, 5, CollapseWatch(spec.record, spec.learn.steps), 0);
  CHECK(final_of(r, "gradient_cosine") == 0.5);
  CHECK(std::isnan(final_of(r, "final_gradient_cosine")));
  CHECK(std::isnan(final_of(r, "gradient_snr")));
}

TEST_CASE("with lr = 0 a policy stays as it is, whatever the optimiser, wherever it starts") {
  for (const PolicyKind policy : {PolicyKind::tabular, PolicyKind::linear})
    for (const OptimizerKind kind : {OptimizerKind::adam, OptimizerKind::adamw, OptimizerKind::sgd})
      for (const double tilt : {0.0, 2.0}) {
        RunSpec spec = fixed_run(policy, "grpo", tilt);
        spec.learn.steps = 60;
        spec.learn.optimizer.kind = kind;
        spec.learn.optimizer.weight_decay = kind == OptimizerKind::adamw ? 0.5 : 0;
        spec.learn.optimizer.clip = 0.1;
        spec.learn.epochs = 2;
        spec.learn.kl = 0.1;
        const RunRecord r = run(spec);
        REQUIRE(r.status == RunStatus::ok);
        for (const char* name : {"quality", "kl", "entropy"})
          for (const double x : recorded_curve(r, name).values) CHECK(x == recorded_curve(r, name).values[0]);
        for (const double x : recorded_curve(r, "gradient_cosine").values) CHECK((x >= -1.0001 && x <= 1.0001));
      }
}

TEST_CASE("a tilted policy starts at exp(tilt q) in its run, what gains are measured from stays the uniform policy") {
  RunCache shared;
  for (const PolicyKind policy : {PolicyKind::tabular, PolicyKind::linear}) {
    double before = 0;
    for (const double tilt : {0.0, 0.5, 1.0, 3.0}) {
      RunSpec spec = fixed_run(policy, "grpo", tilt);
      spec.env.bandit.feature_share = 1;  // the features say everything but what clipping and hacking do
      const BanditProblem problem = *make_bandit_problem(spec, shared, best_isa(), never);
      const RunRecord r = run(spec);
      const double quality = recorded_curve(r, "quality").values[0];
      if (policy == PolicyKind::tabular) CHECK(quality == Approx(tilted_quality(*problem.world, tilt)).epsilon(1e-5));
      CHECK(quality > before);
      before = quality;
      CHECK(final_of(r, "uniform_quality") == problem.world->uniform);
      CHECK(final_of(r, "final_gain") ==
            Approx((quality - problem.world->uniform) / (problem.world->best - problem.world->uniform)).margin(1e-6));
      CHECK(recorded_curve(r, "kl").values[0] >= (tilt > 0 ? 0.01 : -1e-6));
    }
  }
}

TEST_CASE("runs of one world share the fit, and a fit from the cache changes no bit") {
  RunCache shared;
  const RunSpec one = fixed_run(PolicyKind::linear, "grpo", 1), three = fixed_run(PolicyKind::linear, "maxrl", 3);
  const BanditProblem a = *make_bandit_problem(one, shared, best_isa(), never), b = *make_bandit_problem(three, shared, best_isa(), never);
  REQUIRE(a.fit);
  CHECK(a.fit == b.fit);
  for (const RunSpec& other : {fixed_run(PolicyKind::linear, "grpo", 0), fixed_run(PolicyKind::tabular, "grpo", 1)})
    CHECK(!make_bandit_problem(other, shared, best_isa(), never)->fit);
  const RunRecord together = train(three, shared, never), alone = run(three);
  for (std::size_t c = 0; c < alone.curves.size(); ++c) CHECK(together.curves[c].values == alone.curves[c].values);
}

TEST_CASE("at a fixed policy all estimators meet the same responses, scores and redraws") {
  for (const PolicyKind policy : {PolicyKind::tabular, PolicyKind::linear})
    for (const double tilt : {0.0, 1.0}) {
      RunCache shared;
      const RunSpec a = fixed_run(policy, "grpo", tilt), b = fixed_run(policy, "posterior(reinforce)", tilt);
      const BanditProblem first = *make_bandit_problem(a, shared, best_isa(), never),
                          second = *make_bandit_problem(b, shared, best_isa(), never);
      BanditRun one(first), two(second);
      for (int t = 0; t < 6; ++t) {
        train_step(one, t, {.update = true}, never);
        train_step(two, t, {.update = true}, never);
        CHECK(one.step.prompt == two.step.prompt);
        CHECK(one.action == two.action);
        CHECK(one.step.batch.score == two.step.batch.score);
        CHECK(one.step.batch.raw != two.step.batch.raw);
        for (BanditRun* run : {&one, &two}) {
          run->policy.forward(t, run->step.prompt.data());
          run->draw_actions(t, Draws::replicas(3));
          run->draw_scores(t, Draws::replicas(3));
        }
        CHECK(one.action == two.action);
        CHECK(one.step.batch.score == two.step.batch.score);
      }
      const RunRecord left = run(a), right = run(b);
      for (const char* name : {"quality", "kl", "reward", "batch_quality", "dead_groups"}) CHECK(recorded_curve(left, name).values == recorded_curve(right, name).values);
      CHECK(recorded_curve(left, "gradient_cosine").values != recorded_curve(right, "gradient_cosine").values);
    }
}

TEST_CASE("tilted policies are trained on the CPU") {
  RunSpec spec = small_run();
  CHECK(why_not_batched(spec) == "");
  spec.policy.tilt = 1;
  CHECK(why_not_batched(spec) == "a policy with a `tilt` starts on the CPU");
}
