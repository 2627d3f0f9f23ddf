// Trains a run of any world: the training loop, its step, and the interface that a world's run W must have.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/shared/clock.hpp"
#include "results/store/record.hpp"
#include "train/checkpoint/checkpoint.hpp"
#include "train/final_values.hpp"
#include "train/kept_groups.hpp"
#include "train/kept_rollouts.hpp"
#include "train/level_curves.hpp"
#include "train/prompt_batch.hpp"
#include "train/run_record.hpp"
#include "train/schedule/run_steps.hpp"

namespace odrpo {

// One training step of any world: chooses prompts, samples rollouts, scores them, estimates advantages, updates the policy.

/// The state between two steps that runs of every world have.
struct StepState {
  PromptOrder order;
  RewardBatch batch;
  std::vector<std::uint32_t> prompt{};  ///< [B] indices of the batch's prompts
  KeptGroups kept{};                    ///< of the present step, if it draws several batches
  double rollouts = 0;                  ///< of all steps so far, those of dropped groups too; counted if steps draw several batches
  double clipped = 0, updates = 0;      ///< since the last record: sum over updates of the share of rollouts that are clipped; number of updates
  double seconds[stage_count] = {};     ///< spent in each stage since the last record
};

/// What train_step does with a batch besides estimating its advantages.
struct StepUse {
  bool update = true;     ///< update the policy from the batch
  bool recorded = false;  ///< the step is recorded: also take the measures that only records need
  bool last = false;      ///< this is the last step that updates the policy
};

/// True if steps of the run draw prompts until the batch is full of groups that teach.
inline bool resamples(const RunSpec& spec) { return spec.learn.dead_groups == DeadGroups::resample; }

/// Begins to draw the prompts of a step.
inline void begin_drawing(const RunSpec& spec, StepState& step) {
  if (resamples(spec)) step.order.begin_drawing();
  step.batch.drawn_groups = step.batch.drawn_dead = 0;
}
/// Draws the prompts of a batch of step t; false if a resampling step finds too few that it has not drawn.
inline bool next_prompts(const RunSpec& spec, const RandomStages& random, int t, StepState& step) {
  if (resamples(spec)) return step.order.draw(random, spec.run_key, step.prompt.data());
  step.order.choose(random, spec.run_key, t, step.prompt.data());
  return true;
}

/// Keeps the groups of the drawn batch that teach, and draws batches until there are enough for one. The first of them become the batch. Failure
/// `runs_failed` if max_batches or the world's prompts are not enough.
template <class W>
void fill_batch(W& run, int t) {
  const RunSpec& spec = *run.problem->spec;
  const std::atomic<bool> never{false};  // a step that has drawn more than one batch is finished
  StepState& step = run.step;
  const auto batch = static_cast<std::size_t>(spec.learn.batch);
  step.kept.clear();
  for (int draws = 1;; ++draws) {
    const std::vector<std::size_t> teaching = teaching_groups(spec, step.batch);
    step.batch.drawn_groups += spec.learn.batch, step.batch.drawn_dead += static_cast<double>(batch - teaching.size());
    run.each_by_prompt([&](auto&... arrays) { step.kept.add(teaching, batch, arrays...); });
    if (step.kept.count() >= batch) break;
    const bool most = draws == spec.learn.max_batches;
    if (most || !run.draw_prompts(t)) refuse_to_fill(spec, step.batch, t, most);
    run.sample_rollouts(t);
    run.score_rollouts(t, never);
  }
  step.rollouts += step.batch.drawn_groups * spec.learn.rollouts;
  step.order.end_drawing();
  run.each_by_prompt([&](auto&... arrays) { step.kept.restore(arrays...); });
  run.read_batch(t);
}

/// Takes step t = 0, 1, … of a run. The stages are members of `run`, called in this order; `W::step` is its StepState. Returns false when
/// score_rollouts saw `stop`. The step can then be taken again with the same result; its seconds are not counted.
template <class W>
bool train_step(W& run, int t, const StepUse& use, const std::atomic<bool>& stop) {
  double before[stage_count];
  std::copy_n(run.step.seconds, stage_count, before);
  LapClock clock(run.step.seconds);
  run.choose_prompts(t);
  clock.lap(stage_prompts);
  run.sample_rollouts(t);
  clock.lap(stage_policy);
  if (!run.score_rollouts(t, stop)) {
    std::copy_n(before, stage_count, run.step.seconds);
    return false;
  }
  if (const RunSpec& spec = *run.problem->spec; resamples(spec) && t < spec.learn.steps) fill_batch(run, t);
  clock.lap(stage_rater);
  run.estimate_advantages();
  clock.lap(stage_estimator);
  if (use.recorded) {
    run.measure_gradient(t);
    clock.lap(stage_record);
  }
  if (use.update) {
    run.update_policy(t, use.recorded || use.last);
    clock.lap(stage_update);
  }
  return true;
}

/// A run between two steps. W, a world's run, is made from its problem (const while it trains). Besides the stages of train_step it has:
///   const Problem* problem;
///   StepState step;
///   bool draw_prompts(int t);                             draws the batch's prompts; of a resampling run others than those drawn in this step, if there are
///   void each_by_prompt(f);                           calls f(arrays...) for the arrays [B][…] of prompts, responses and scores; of a resampling run
///   void read_batch(int t);                           reads prompts and responses that each_by_prompt() changed, for update_policy()
///   std::string begin(stop);                          called before the first step; returns why the run cannot be trained ("stopped" too), or ""
///   bool evaluate(int t, stop);                       computes slowly what record_policy needs; false = `stop` was set, and nothing changed
///   bool ends_slowly();                               true if the last evaluation takes so long that a stop should interrupt it too
///   void record_policy(RunRecord&);                   appends the values that depend on the policy alone
///   std::vector<double> levels_reached();             [K - 1] P(quality >= k - 1/2) of the policy for the levels k = 2..K, after record_policy()
///   void record_batch(RunRecord&);                    appends this world's values of the latest batch, besides those of add_batch()
///   double batch_truth();                             mean true quality of the latest step's responses
///   KeptResponse response(std::size_t i);             what the world knows of response i of the latest step, [B][G]
///   const char* not_finite();                         what was not finite in the latest record or update ("parameters are"), or null
///   Headroom headroom(const RunRecord&);              the qualities between which gains are measured
///   double judge_calls();                             expected calls of the judge over the run
///   CallsByJudge by_judge;                            these calls for each judge, if the bill depends on who answers (bills_by_judge()); else empty
///   void add_final_values(RunRecord&);                appends the final values that only this world has
///   static bool is_of_policy(CurveId);                true if record_policy appends to this curve
///   static constexpr bool measures_after_end;         true if the last record draws a batch of its own, from which nothing learns
///   template <class A> void keep(A& archive);         saves or loads the state that later steps read (train/checkpoint/checkpoint.hpp)
///   void restored(int t);                             called after keep() has loaded the state before step t
template <class W>
struct Run {
  W world;
  RunRecord record;
  FinalReward final_reward;
  CollapseWatch collapse;
  int t = 0;            ///< the next step; the record may already have the policy's values before it
  int last_record = 0;  ///< step of the latest record

  explicit Run(const typename W::Problem& problem)
      : world(problem),
        record(begin_record(*problem.spec)),
        final_reward(problem.spec->learn.steps),
        collapse(problem.spec->record, problem.spec->learn.steps) {}

  /// Saves the whole state to an archive, or loads it.
  template <class A>
  void keep(A& archive) {
    archive(t, last_record);
    world.keep(archive);
    if (world.step.batch.median) archive(*world.step.batch.median);
    if (world.step.batch.posterior) archive(*world.step.batch.posterior);
    if (resamples(*world.problem->spec)) archive(world.step.order.used, world.step.rollouts);
    archive(world.step.clipped, world.step.updates, std::span<double>(world.step.seconds));
    archive(final_reward.sum, final_reward.batches, collapse);
    archive(record.step, record.seconds);
    for (Curve& curve : record.curves) archive(curve.values);
    for (Curve& column : record.rollouts) archive(column.values);
  }

  /// Checks a run that was loaded from a checkpoint: true if its step and the lengths of its curves fit each other and the spec.
  bool is_consistent(const RunSpec& spec) const {
    const int every = spec.record.every;
    if (t < 1 || t >= spec.learn.steps) return false;
    const std::size_t before = static_cast<std::size_t>((t - 1) / every + 1), now = record.step.size();
    if (now != before && !(now == before + 1 && t % every == 0)) return false;
    for (std::size_t i = 0; i < now; ++i)
      if (record.step[i] != static_cast<int>(i) * every) return false;
    if (last_record != record.step.back() || record.seconds.size() != now * stage_count) return false;
    for (int c = 0; c < all_curves; ++c) {
      const CurveId id = static_cast<CurveId>(c);
      const std::size_t wanted = !has_curve(spec, id) ? 0 : W::is_of_policy(id) ? now : before;
      if (record.curves[static_cast<std::size_t>(c)].values.size() != wanted) return false;
    }
    return have_length(record, spec, now, before) && are_kept_until(record, spec, t);
  }
};

/// Appends the policy's values before step t to the record. Returns false when they are not finite.
template <class W>
bool record_policy(Run<W>& run, int t) {
  LapClock clock(run.world.step.seconds);
  run.record.step.push_back(t);
  run.world.record_policy(run.record);
  if (run.world.not_finite() != nullptr) return false;
  if (const RunSpec& spec = *run.world.problem->spec; records_levels(spec)) add_quality_levels(run.record, spec, run.world.levels_reached());
  clock.lap(stage_record);
  record_seconds(run.record, run.world.step.seconds, t, run.last_record);
  return true;
}

/// Appends the values of the latest step's batch to the record.
template <class W>
void record_batch(Run<W>& run, const RunSpec& spec) {
  StepState& step = run.world.step;
  LapClock clock(step.seconds);
  add_batch(run.record, spec, summarise(spec, step.batch), run.world.batch_truth());
  run.world.record_batch(run.record);
  if (records_levels(spec)) add_batch_levels(run.record, spec, step.batch);
  add_value(run.record, spec, CurveId::clipped, step.updates > 0 ? step.clipped / step.updates : __builtin_nan(""));
  add_value(run.record, spec, CurveId::rollouts, step.rollouts);
  step.clipped = step.updates = 0;
  clock.lap(stage_record);
}

/// Trains a run from its first step, or from its checkpoint, to its last, and returns its complete record. Checks `stop` before each step:
/// a stopped run returns status failed with error "stopped". `counted`, unless null, counts the steps for the display of progress.
template <class W>
RunRecord train_loop(const typename W::Problem& problem, const std::atomic<bool>& stop, const CheckpointStore& store, RunSteps* counted) {
  const RunSpec& spec = *problem.spec;
  const int steps = spec.learn.steps;
  const std::atomic<bool> never{false};
  std::optional<Run<W>> run(problem);
  if (const std::string why = run->world.begin(stop); !why.empty()) return failed_record(spec, why);
  const CheckpointStore none;  // another program's memory of the run is in no checkpoint
  Checkpoints<Run<W>> checkpoints(spec.estimator.outside != Outside::none && spec.estimator.state == OutsideState::run ? none : store, spec, problem.by());
  if (!checkpoints.resume(*run))  // the checkpoint does not fit, and the run may be half loaded
    if (const std::string why = run.emplace(problem).world.begin(stop); !why.empty()) return failed_record(spec, why);
  if (counted) counted->begin(run->t);
  for (int& t = run->t; t <= steps; ++t) {
    if (counted) counted->reached(t);
    if (t < steps) {  // after the last step little is left to do, so nothing is saved
      const bool stopping = stop.load(std::memory_order_relaxed);
      checkpoints.save_when_due(*run, stopping || (t + 1 == steps && run->world.ends_slowly()));
      if (stopping) return failed_record(spec, "stopped");
    }
    const bool recorded = t % spec.record.every == 0 || t == steps;
    if (recorded && (run->record.step.empty() || run->record.step.back() != t)) {
      LapClock clock(run->world.step.seconds);
      if (counted) counted->evaluating.store(true, std::memory_order_relaxed);
      const bool evaluated = run->world.evaluate(t, t < steps || run->world.ends_slowly() ? stop : never);
      if (counted) counted->evaluating.store(false, std::memory_order_relaxed);
      if (!evaluated) {
        if (t < steps) checkpoints.save_when_due(*run, true);  // at t = steps the record also needs the last batch, which no checkpoint has
        return failed_record(spec, "stopped");
      }
      clock.lap(stage_record);
      if (!record_policy(*run, t)) return diverged_record(spec, run->world.not_finite(), t);
    }
    if (t < steps || W::measures_after_end) {
      if (!train_step(run->world, t, {t < steps, recorded, t + 1 == steps}, stop)) {
        checkpoints.save_when_due(*run, true);
        return failed_record(spec, "stopped");
      }
      if (run->world.not_finite() != nullptr) return diverged_record(spec, run->world.not_finite(), t);
    }
    if (keeps_rollouts(spec, t)) {
      LapClock clock(run->world.step.seconds);
      keep_rollouts(run->record, run->world, t);
      clock.lap(stage_record);
    }
    if (t < steps) {
      const SeenSum seen = sum_seen(run->world.step.batch);
      run->final_reward.add(t, seen);
      if (seen.count > 0) run->collapse.add(t, seen.mean());
    }
    if (recorded) record_batch(*run, spec);
  }
  close_record(run->record, spec, run->world.headroom(run->record), run->final_reward.mean(), run->collapse, run->world.judge_calls(),
               run->world.by_judge);
  run->world.add_final_values(run->record);
  if (resamples(spec)) run->record.finals.push_back({"drawn_rollouts", run->world.step.rollouts});
  return std::move(run->record);
}

}  // namespace odrpo
