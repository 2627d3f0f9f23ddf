// What every world records alike: a batch in numbers, seconds, and final values from the curves.
#pragma once
#include <string_view>

#include "results/record.hpp"
#include "suites/batch.hpp"
#include "suites/collapse.hpp"

namespace odrpo {

/// What a batch's rewards and raw advantages say; rewards that are missing are left out.
struct BatchSummary {
  double reward = 0, missing = 0;           ///< mean seen reward (NaN without any), share of responses without one
  double rms = 0, lowest = 0, highest = 0;  ///< of the estimator's own advantages, before whitening
  DeadShares dead{};
};
BatchSummary summarise(const RunSpec& spec, const RewardBatch& b);

/// Appends the seconds per step since the record at `last_step`, and begins again at t.
void record_seconds(RunRecord& r, double (&seconds)[stage_count], int t, int& last_step);

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

/// Bytes on disk of a run with so many bytes of curves and seconds while its output is made: in a shard and in the output, both compressed, and
/// in the row file of the work folder, which is not.
double stored_bytes(double recorded);

/// Values of a curve of the record.
const std::vector<double>& curve_of(const RunRecord& r, std::string_view name);

/// Fills finals and step_time_median of a record whose curves quality, reward, kl and entropy are complete.
void finish_record(RunRecord& r, const Headroom& between, double final_reward, const CollapseWatch& watch, double judge_calls);

}  // namespace odrpo
