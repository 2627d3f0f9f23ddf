// Trains one run: steps, records, final values.
#include "suites/train.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/clock.hpp"
#include "suites/bandit_record.hpp"
#include "suites/canonical.hpp"
#include "suites/curves.hpp"
#include "suites/finish.hpp"
#include "suites/lm_train.hpp"
#include "suites/signal.hpp"
#include "suites/train_step.hpp"

namespace odrpo {
namespace {

struct Recorder {
  RunRecord& record;
  const Problem& problem;

  void value(CurveId curve, double x) { add_value(record, *problem.spec, curve, x); }

  // What the policy is worth before step t, exactly.
  double policy(TrainState& s, int t) {
    const ExactMeans now = s.policy.exact(problem.world->quality.data());
    record.step.push_back(t);
    value(CurveId::quality, now.quality);
    value(CurveId::kl, now.kl);
    value(CurveId::entropy, now.entropy);
    return now.quality;
  }

  // What step t saw: the batch's scores beside the truth, the estimator's raw advantages, what of the batch taught nothing.
  void batch(TrainState& s) {
    double truth = 0;
    for (std::size_t i = 0; i < s.action.size(); ++i) {
      const std::size_t row = s.prompt[i / problem.spec->learn.rollouts];
      truth += problem.world->quality[row * problem.world->width + s.action[i]];
    }
    add_batch(record, *problem.spec, summarise(*problem.spec, s.batch), truth / static_cast<double>(s.batch.raw.size()));
    value(CurveId::clipped, s.updates > 0 ? s.clipped / s.updates : std::nan(""));
    s.clipped = s.updates = 0;
  }
};

}  // namespace

RunRecord failed_record(const RunSpec& spec, const std::string& why) {
  RunRecord r;
  r.id = spec.id;
  r.key = spec_key(spec);
  r.env = spec.env_name;
  r.rater = spec.rater_name;
  r.policy = spec.policy_name;
  r.estimator = spec.estimator_name;
  r.votes = spec.votes;
  r.seed = spec.seed;
  r.axes = spec.axes;
  r.status = RunStatus::failed;
  r.error = why;
  return r;
}

RunRecord train(const RunSpec& spec, Shared& shared, const std::atomic<bool>& stop, const Keeper& keeper) {
  if (spec.env.kind == WorldKind::toy_lm) return train_lm(spec, shared, stop, keeper);
  RunRecord r = begin_record(spec);
  const std::optional<Problem> made = make_problem(spec, shared, best_isa(), stop);
  if (!made) return failed_record(spec, "stopped");
  const Problem& problem = *made;
  TrainState state = make_state(problem);
  Recorder recorder{r, problem};
  int last_record = 0;
  const int steps = spec.learn.steps;
  FinalReward final_reward(steps);
  CollapseWatch watch(spec.record, steps);
  for (int t = 0; t <= steps; ++t) {
    if (stop.load(std::memory_order_relaxed)) return failed_record(spec, "stopped");
    const bool recorded = t % spec.record.every == 0 || t == steps;
    if (recorded) {
      LapClock clock(state.seconds);
      if (!std::isfinite(recorder.policy(state, t))) return diverged_record(spec, t);
      clock.lap(stage_record);
      record_seconds(r, state.seconds, t, last_record);
    }
    meet_batch(problem, state, t);               // that of the last record is not learned from
    if (recorded && spec.record.gradient > 0) {  // of the policy that met the batch: before any update
      LapClock clock(state.seconds);
      const GradientSignal signal = gradient_signal(problem, state, t);
      recorder.value(CurveId::gradient_cosine, signal.cosine);
      recorder.value(CurveId::gradient_snr, signal.snr);
      clock.lap(stage_record);
    }
    if (t < steps) {
      learn_from_batch(problem, state, t);
      const SeenSum seen = sum_seen(state.batch);
      final_reward.add(t, seen);
      if (seen.count > 0) watch.add(t, seen.mean());
    }
    if (recorded) {
      LapClock clock(state.seconds);
      recorder.batch(state);
      clock.lap(stage_record);
    }
  }
  end_bandit_record(r, spec, *problem.world, final_reward, watch);
  return r;
}

Cost estimate_cost(const RunSpec& spec) {
  if (spec.env.kind == WorldKind::toy_lm) return estimate_lm_cost(spec);
  // rough: fitted to this program's own stage times on one 2.6 GHz core, 8 floats a vector
  const double width = (spec.env.bandit.actions + 31) / 32 * 32, cells = spec.learn.batch * width, world = spec.env.bandit.prompts * width;
  const double rollouts = static_cast<double>(spec.learn.batch) * spec.learn.rollouts;
  const bool linear = spec.policy.kind == PolicyKind::linear, draws = spec.rater.sampling == Sampling::draws;
  const double per_cell = linear ? 1e-9 + 0.04e-9 * spec.env.bandit.features : 2e-9, per_rollout = 6e-9 + (draws ? 3e-9 * spec.votes : 0);
  const double step = cells * per_cell * spec.learn.epochs + rollouts * per_rollout + 0.3e-6;
  const double records = spec.learn.steps / static_cast<double>(spec.record.every) + 2;
  const double recorded = records * (8.0 * curve_count(spec) + 4.0 * stage_count);
  Cost c;
  c.cpu_seconds = spec.learn.steps * step + records * (world * per_cell + rollouts * 4e-9 + step * spec.record.gradient);
  // the world (quality, features) and its rows of law; parameters and moments; the batch; the estimator's table of terms; the record
  c.memory_bytes = world * (11 + (linear ? 4.0 * spec.env.bandit.features : 16)) +
                   2 * std::min(world, most_rows(spec.env.bandit, spec.rater)) * row_bytes(spec.env.bandit, spec.rater, spec.votes) +
                   cells * 24 + estimator_bytes(spec) + 2 * recorded + watch_bytes(spec.record, spec.learn.steps);
  c.disk_bytes = stored_bytes(recorded);
  c.judge_calls = bandit_judge_calls(spec);
  return c;
}

double world_seconds(const RunSpec& spec) {
  if (spec.env.kind == WorldKind::toy_lm) return warm_start_seconds(spec);
  const bool signal = spec.policy.kind == PolicyKind::linear || spec.env.bandit.feature_share > 0;
  return static_cast<double>(spec.env.bandit.prompts) * spec.env.bandit.actions * (60e-9 + (signal ? 25e-9 * spec.env.bandit.features : 0));
}

}  // namespace odrpo
