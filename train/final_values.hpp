// Final values of a record from its curves, and the end of the record; and whether its seen reward collapses.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "results/store/record.hpp"
#include "train/prompt_batch.hpp"
#include "train/schedule/cost.hpp"

namespace odrpo {

// Watches whether the seen reward of a run collapses: fed every batch's mean, a few additions each.

struct RecordConfig;

/// A window is T = collapse_steps batches in a row that have a seen reward. The peak before batch s is the largest mean of a window that
/// ends before s. The run has collapsed at s when s and the T - 1 batches after it all lie more than collapse_fall below the peak before s;
/// the first such s counts. What is asked for at the end is what the functions say; everything else is how to know it without a look back.
struct CollapseWatch {
  double fall;
  std::size_t window;

  // the last T batches, a ring in which `place` is the next to be overwritten (no longer than the run, which may be shorter than T)
  std::vector<double> mean, peak_before;
  std::vector<std::int32_t> step;
  std::size_t place = 0;
  std::int64_t batches = 0;
  double sum = 0;  ///< of the ring's means; taken anew at each turn of the ring, so that rounding cannot add up

  double latest = std::numeric_limits<double>::quiet_NaN();  ///< mean of the latest window
  double peak = -std::numeric_limits<double>::infinity();    ///< of all windows
  double largest_fall = 0;                                   ///< of a window's mean below the peak, levels
  std::size_t low = 0;                                       ///< latest batches that all lie low, seen from the first of them
  std::int32_t collapse_step = -1;                           ///< -1: none

  CollapseWatch(const RecordConfig& config, int steps);
  /// The mean seen reward of step t's batch. A batch without any is not to be added: windows close over it.
  void add(int t, double reward);

  /// Was there a whole window; and one after it, without which no run can collapse?
  bool has_window() const { return batches >= static_cast<std::int64_t>(window); }
  bool could_tell() const { return batches >= 2 * static_cast<std::int64_t>(window); }
  bool collapsed() const { return collapse_step >= 0; }
  /// Does the latest window lie within collapse_fall of the peak again?
  bool back() const { return latest >= peak - fall; }

  /// What a checkpoint keeps of it, an archive (train/checkpoint/checkpoint.hpp).
  template <class Archive>
  void keep(Archive& a) {
    std::span<double> means(mean), peaks(peak_before);
    std::span<std::int32_t> steps(step);
    a(means, peaks, steps, place, batches, sum, latest, peak, largest_fall, low, collapse_step);
    a.require(place < mean.size() && low <= mean.size());
  }
};

/// Bytes that a watch takes.
double watch_bytes(const RecordConfig& config, int steps);

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
