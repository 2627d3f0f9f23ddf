// Final values of a run from its curves, the same for every world.
#pragma once
#include <string_view>

#include "results/record.hpp"
#include "suites/batch.hpp"

namespace odrpo {

/// Quality that gains are measured between, levels: where the policy starts (the bandit's uniform policy) and the best there is.
struct Headroom {
  double start = 0, best = 0;
};

/// Mean seen reward over the last tenth of the steps (one batch alone is noisy), whatever is recorded.
struct FinalReward {
  int first;
  double sum = 0, batches = 0;
  explicit FinalReward(int steps);
  void add(int t, const RewardBatch& b);
  double mean() const { return sum / batches; }
};

/// Values of a curve of the record.
const std::vector<double>& curve_of(const RunRecord& r, std::string_view name);

/// Fills finals and step_time_median of a record whose curves quality, reward, kl and entropy are complete.
void finish_record(RunRecord& r, const Headroom& between, double final_reward, double judge_calls);

}  // namespace odrpo
