// One training step, whatever the world: prompts, rollouts, scores, advantages, update. The loop around it is train/loop.hpp.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "kernels/shared/clock.hpp"
#include "results/store/record.hpp"
#include "train/prompt_batch.hpp"

namespace odrpo {

/// What every run has between two steps, whatever its world.
struct StepState {
  PromptOrder order;
  RewardBatch batch;
  std::vector<std::uint32_t> prompt{};  ///< [B] the prompts of the batch
  double clipped = 0, updates = 0;      ///< shares of clipped rollouts, summed over the updates since the last record
  double seconds[stage_count] = {};     ///< of each stage, since the last record
};

/// What is done with a step's batch besides estimating its advantages.
struct StepUse {
  bool update = true;     ///< learn from it
  bool recorded = false;  ///< the record of this step is made: measure what is measured at records only
  bool last = false;      ///< the last step that learns
};

/// Step t = 0, 1, … of a run. Its members are the stages, in this order; `W::step` is its StepState. Returns false when `stop` was set
/// before the update began: the run is then as before the step, its seconds included.
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

}  // namespace odrpo
