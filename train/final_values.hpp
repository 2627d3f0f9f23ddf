// Final values of a record from its curves, and the end of the record.
#pragma once
#include <string_view>

#include "results/store/record.hpp"
#include "train/collapse.hpp"
#include "train/prompt_batch.hpp"
#include "train/schedule/cost.hpp"

namespace odrpo {

struct RunSpec;

/// Quality that gains are measured between, levels: where the policy starts (the bandit's uniform policy) and the best there is.
struct Headroom {
  double start = 0, best = 0;
};

/// Mean seen reward over the last tenth of the steps (one batch alone is noisy), whatever is recorded.
struct FinalReward {
  int first;
  double sum = 0, batches = 0;
  explicit FinalReward(int steps);
  void add(int t, const SeenSum& seen);
  double mean() const { return sum / batches; }
};

/// Values of a curve of the record.
const std::vector<double>& curve_of(const RunRecord& r, std::string_view name);

/// Fills finals and step_time_median from the curves, which are complete, drops the curves that the run does not have, and sets status ok.
/// judge_calls: expected calls of the judge in all steps; by_judge: those of each judge of a panel (bills_by_judge()).
void close_record(RunRecord& r, const RunSpec& spec, const Headroom& between, double final_reward, const CollapseWatch& watch,
                  double judge_calls, const CallsByJudge& by_judge = {});

}  // namespace odrpo
