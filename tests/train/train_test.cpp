// Training one run: what a record holds, that it learns, common random numbers, and what must not change a run.
#include "train/train.hpp"

#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "config/spec.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "config/write/canonical.hpp"
#include "kernels/random.hpp"
#include "tests/catch.hpp"
#include "tests/train/trained.hpp"
#include "train/curves.hpp"
#include "train/final_values.hpp"
#include "train/run_record.hpp"
#include "train/worlds/bandit.hpp"

using namespace odrpo;

TEST_CASE("every estimator and policy learns on the mixed rater, and its record is complete") {
  for (PolicyKind policy : {PolicyKind::tabular, PolicyKind::linear}) {
    for (std::string_view word : whole_catalogue()) {
      const std::string name(word);
      INFO(name);
      if (row_of(parse_estimator(name)->form).reads == Reads::lengths) continue;  // suites refuse it in the bandit
      const RunRecord r = run(small_run(policy, name.c_str()));
      REQUIRE(r.status == RunStatus::ok);
      CHECK(r.step.front() == 0);
      CHECK(r.step.back() == 200);
      CHECK(r.step.size() == 21);
      for (const Curve& c : r.curves) {
        CHECK(c.values.size() == r.step.size());
        for (double x : c.values) CHECK(std::isfinite(x));
      }
      CHECK(r.seconds.size() == r.step.size() * stage_count);
      CHECK(final_of(r, "final_gain") > 0.15);
      CHECK(final_of(r, "final_gain") < 1.0);
      CHECK(recorded_curve(r, "quality").values.front() == Approx(final_of(r, "uniform_quality")).epsilon(1e-6));
      CHECK(final_of(r, "regret") == Approx(final_of(r, "best_quality") - final_of(r, "final_quality")));
      CHECK(final_of(r, "judge_calls") == 200.0 * 8 * 8);
      CHECK(recorded_curve(r, "kl").values.front() == Approx(0).margin(1e-6));
    }
  }
}

TEST_CASE("a run is the same whatever else was run, however often it is recorded, on every instruction set") {
  for (PolicyKind policy : {PolicyKind::tabular, PolicyKind::linear}) {
    RunSpec spec = small_run(policy, "odrpo-gini-median(maxrl)", 8);
    spec.estimator.median = MedianRule::running;
    const RunRecord a = run(spec);
    RunCache shared;
    const std::atomic<bool> stop{false};
    train(small_run(policy, "maxrl", 8), shared, stop);
    const RunRecord b = train(spec, shared, stop);
    for (std::size_t c = 0; c < a.curves.size(); ++c) CHECK(a.curves[c].values == b.curves[c].values);
    for (std::size_t f = 0; f < a.finals.size(); ++f) {
      INFO(a.finals[f].name);
      CHECK((a.finals[f].value == b.finals[f].value || (std::isnan(a.finals[f].value) && std::isnan(b.finals[f].value))));
    }
    CHECK(final_of(b, "collapsed") == 0);
    spec.record.every = 7;
    spec.record.gradient = 4;
    const RunRecord often = run(spec);
    CHECK(final_of(often, "final_quality") == final_of(a, "final_quality"));
    CHECK(final_of(often, "final_kl") == final_of(a, "final_kl"));
    CHECK(often.curves.size() == a.curves.size() + 2);
    for (double x : recorded_curve(often, "gradient_cosine").values) CHECK((std::isnan(x) || std::fabs(x) <= 1.0001));
  }
}

#if defined(__x86_64__)
TEST_CASE("training meets no subnormal number and leaves the caller's mode as it was") {
  constexpr unsigned flags = 0x3f, met_subnormal = 0x02;  // of MXCSR
  for (PolicyKind policy : {PolicyKind::tabular, PolicyKind::linear}) {
    RunSpec spec = small_run(policy);
    spec.learn.optimizer.lr = 30;
    spec.learn.steps = 2000;
    const unsigned before = _mm_getcsr() & ~flags;
    _mm_setcsr(before);
    CHECK(run(spec).status == RunStatus::ok);
    const unsigned after = _mm_getcsr();
    CHECK((after & met_subnormal) == 0);
    CHECK((after & ~flags) == before);
  }
}
#endif

TEST_CASE("the step time leaves out the first recorded interval, which warms up, unless it is the only one") {
  const RunSpec spec = small_run();
  for (const auto& [intervals, median] : std::vector<std::pair<std::vector<float>, float>>{{{9}, 9}, {{9, 2}, 2}, {{1, 3, 2, 4}, 3}}) {
    RunRecord r = begin_record(spec);
    r.seconds.assign(stage_count, 0.0f);
    for (const float seconds : intervals) {
      r.seconds.insert(r.seconds.end(), stage_count, 0.0f);
      r.seconds[r.seconds.size() - stage_count + stage_policy] = seconds;
    }
    for (std::size_t i = 0; i <= intervals.size(); ++i) {
      r.step.push_back(static_cast<int>(i));
      for (const CurveId id : {CurveId::quality, CurveId::reward, CurveId::kl, CurveId::entropy}) add_value(r, spec, id, 5);
    }
    close_record(r, spec, {5, 6}, 5, CollapseWatch(spec.record, spec.learn.steps), 0);
    CHECK(r.step_time_median == median);
  }
}

TEST_CASE("estimators of one seed meet the same worlds and the same first batch") {
  const RunRecord a = run(small_run(PolicyKind::linear, "grpo")), b = run(small_run(PolicyKind::linear, "odrpo-gini(maxrl)"));
  CHECK(recorded_curve(a, "quality").values[0] == recorded_curve(b, "quality").values[0]);
  CHECK(recorded_curve(a, "reward").values[0] == recorded_curve(b, "reward").values[0]);
  CHECK(recorded_curve(a, "batch_quality").values[0] == recorded_curve(b, "batch_quality").values[0]);
  RunSpec other = small_run();
  other.run_key = derive_key(1, 1);
  CHECK(recorded_curve(run(other), "quality").values[0] != recorded_curve(a, "quality").values[0]);
}

TEST_CASE("a batch holds every prompt at most once and an epoch deals all that fit") {
  RunSpec spec = small_run();
  spec.env.bandit.prompts = 27;
  RunCache shared;
  const BanditProblem problem = *make_bandit_problem(spec, shared, best_isa(), never);
  BanditRun s(problem);
  for (int epoch = 0; epoch < 5; ++epoch) {
    std::set<std::uint32_t> seen;
    for (int b = 0; b < 3; ++b) {
      s.choose_prompts(epoch * 3 + b);
      seen.insert(s.step.prompt.begin(), s.step.prompt.end());
    }
    CHECK(seen.size() == 24);
  }
}

TEST_CASE("law and literal votes end at the same quality within noise") {
  double distribution = 0, draws = 0;
  for (int seed = 0; seed < 6; ++seed) {
    RunSpec spec = small_run(PolicyKind::tabular, "grpo", 8);
    spec.run_key = derive_key(5, static_cast<std::uint32_t>(seed));
    distribution += final_of(run(spec), "final_gain") / 6;
    spec.rater.sampling = Sampling::draws;
    draws += final_of(run(spec), "final_gain") / 6;
  }
  CHECK(distribution == Approx(draws).margin(0.05));
}

TEST_CASE("the mean of redrawn gradients without noise and baseline points along the exact gradient") {
  RunSpec spec = small_run(PolicyKind::tabular, "reinforce", 1);
  for (const RaterPreset& p : rater_presets())
    if (p.word == "clean") spec.rater = p.config;
  spec.env.bandit.quality = QualityKind::integer;  // scores are the truth
  spec.learn.whiten = Whiten::none;
  spec.learn.kl = 0;
  spec.record.gradient = 4000;
  RunCache shared;
  const BanditProblem problem = *make_bandit_problem(spec, shared, best_isa(), never);
  BanditRun s(problem);
  train_step(s, 0, {.update = false}, never);
  const GradientQuality signal = gradient_quality(s, 0);
  CHECK(signal.cosine > 0.995);
  CHECK(signal.snr > 0);
}

TEST_CASE("cosine and signal-to-noise by hand") {
  const float along[] = {1, 1};
  // redraws (1, 0) and (0, 1): mean (1/2, 1/2), squared norm 1/2; trace 2 (1/2) / 1 = 1, of which half belongs to the mean's own square
  const double two[] = {1, 1};
  GradientQuality signal = quality_of(two, along, 2, 2, 2);
  CHECK(signal.cosine == Approx(1).epsilon(1e-14));
  CHECK(signal.snr == Approx(0).margin(1e-14));
  // and (1, 1): mean (2/3, 2/3), squared norm 8/9; trace (4 - 8/3) / 2 = 2/3; (8/9 - 2/9) / (2/3)
  const double three[] = {2, 2};
  signal = quality_of(three, along, 2, 4, 3);
  CHECK(signal.snr == Approx(1).epsilon(1e-14));
  const float across[] = {1, -1};
  CHECK(quality_of(three, across, 2, 4, 3).cosine == Approx(0).margin(1e-14));
  CHECK(std::isnan(quality_of(three, along, 2, 4, 1).snr));
  const float nothing[] = {0, 0};
  CHECK(std::isnan(quality_of(three, nothing, 2, 4, 3).cosine));
}

TEST_CASE("the gradient signal is the policy's that met the batch, whatever is learned from it, and changes nothing") {
  for (PolicyKind policy : {PolicyKind::tabular, PolicyKind::linear}) {
    RunSpec spec = small_run(policy, "maxrl");
    spec.record.gradient = 8;
    const RunRecord once = run(spec);
    spec.learn.epochs = 5;
    spec.learn.dead_groups = DeadGroups::drop;
    const RunRecord often = run(spec);
    spec.learn.dead_groups = DeadGroups::keep;
    const RunRecord same = run(spec);
    for (const char* curve : {"gradient_cosine", "gradient_snr"}) {
      CHECK(recorded_curve(once, curve).values[0] == recorded_curve(same, curve).values[0]);
      CHECK(recorded_curve(once, curve).values[1] != recorded_curve(same, curve).values[1]);
    }
    spec.record.gradient = 0;
    const RunRecord without = run(spec);
    for (const Curve& c : without.curves) CHECK(c.values == recorded_curve(same, c.name).values);
    spec.learn.dead_groups = DeadGroups::drop;
    const RunRecord dropped = run(spec);
    for (const Curve& c : dropped.curves) CHECK(c.values == recorded_curve(often, c.name).values);
  }
}

TEST_CASE("the final reward is the mean over the last tenth of the steps, and over the last one of fewer than twenty") {
  struct Row {
    int steps;
    double batches, mean;
  };
  for (const Row& row : {Row{1, 1, 0}, Row{9, 1, 8}, Row{10, 1, 9}, Row{19, 1, 18}, Row{20, 2, 18.5}, Row{205, 20, 194.5}}) {
    FinalReward reward(row.steps);
    for (int t = 0; t < row.steps; ++t) reward.add(t, {2.0 * t, 2});  // two scores of t each
    INFO(row.steps);
    CHECK(reward.batches == row.batches);
    CHECK(reward.mean() == row.mean);
  }
}

TEST_CASE("finals are what the record's own curves say") {
  RunSpec spec = small_run(PolicyKind::tabular);
  spec.record.every = 1;
  const RunRecord fine = run(spec);
  double reward = 0;
  for (int t = 180; t < 200; ++t) reward += recorded_curve(fine, "reward").values[static_cast<std::size_t>(t)] / 20;
  CHECK(final_of(fine, "final_reward") == Approx(reward).epsilon(1e-12));
  spec.record.every = 7;  // steps 0, 7, .., 196, 200
  const RunRecord r = run(spec);
  CHECK(final_of(r, "final_reward") == final_of(fine, "final_reward"));  // whatever is recorded
  const auto area = [&](const char* name) {
    const auto& y = recorded_curve(r, name).values;
    double sum = 0;
    for (std::size_t i = 1; i < y.size(); ++i) sum += (y[i - 1] + y[i]) / 2 * (r.step[i] - r.step[i - 1]);
    return sum / 200;
  };
  const double start = final_of(r, "uniform_quality"), best = final_of(r, "best_quality");
  CHECK(final_of(r, "auc_quality") == Approx(area("quality")).epsilon(1e-12));
  CHECK(final_of(r, "auc_reward") == Approx(area("reward")).epsilon(1e-12));
  CHECK(final_of(r, "auc_gain") == Approx((area("quality") - start) / (best - start)).epsilon(1e-12));
  CHECK(final_of(r, "final_gain") == Approx((recorded_curve(r, "quality").values.back() - start) / (best - start)).epsilon(1e-12));
  CHECK(final_of(r, "final_kl") == recorded_curve(r, "kl").values.back());
  CHECK(final_of(r, "final_entropy") == recorded_curve(r, "entropy").values.back());
}

TEST_CASE("runs that differ in votes or rollouts alone share no law, scores or tables") {
  for (const Sampling sampling : {Sampling::law, Sampling::draws}) {
    RunCache shared;
    for (const int votes : {1, 4})
      for (const int rollouts : {8, 3})
        for (const char* estimator : {"odrpo(grpo)", "odrpo-gini-median(grpo)"}) {
          RunSpec spec = small_run(PolicyKind::tabular, estimator, votes);
          spec.learn.rollouts = rollouts;
          spec.rater.sampling = sampling;
          const RunRecord together = train(spec, shared, never), alone = run(spec);
          for (std::size_t c = 0; c < alone.curves.size(); ++c) CHECK(together.curves[c].values == alone.curves[c].values);
        }
  }
}

TEST_CASE("the share of clipped rollouts is undefined where no update lies between two records") {
  RunSpec spec = small_run(PolicyKind::tabular);
  spec.learn.epochs = 3;
  spec.learn.ratio_clip = 0.05;
  spec.learn.steps = 21;
  const auto before = recorded_curve(run(spec), "clipped").values;  // records at 0, 10, 20 and 21
  REQUIRE(before.size() == 4);
  CHECK(before[2] > 0);
  CHECK(std::isnan(before[3]));
  spec.learn.steps = 22;
  CHECK(recorded_curve(run(spec), "clipped").values[3] >= 0);  // the schedule ends at 0: nothing moves, and nothing is clipped
}

TEST_CASE("a stopped run and a diverged run say so") {
  RunCache shared;
  const std::atomic<bool> stop{true};
  const RunRecord stopped = train(small_run(), shared, stop);
  CHECK(stopped.status == RunStatus::failed);
  CHECK(stopped.error == "stopped");
  // the decay multiplies every parameter by about minus a million at each step
  RunSpec wild = small_run();
  wild.learn.optimizer.kind = OptimizerKind::adamw;
  wild.learn.optimizer.weight_decay = 1;
  wild.learn.optimizer.lr = 1e6;
  const RunRecord r = run(wild);
  REQUIRE(r.status == RunStatus::failed);
  CHECK(r.error.find("diverged: parameters are not finite at step ") == 0);
  CHECK(r.id == wild.id);
  CHECK(r.key == spec_key(wild));
  CHECK(r.finals.empty());
}
