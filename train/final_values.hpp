// Declares what ends a record: final values computed from its curves, and the watch for a collapse of its observed reward.
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

// Watches whether the observed reward of a run collapses. Reads the mean reward of every batch, at the cost of a few additions each.

struct RecordConfig;

/// A window is T = collapse_steps batches in a row that have an observed reward; its value is their mean. The peak before batch s is the
/// largest value of the windows that end before s. The run has collapsed at s when s and the next T - 1 batches all lie more than
/// collapse_fall below that peak. The first s of which this is true is the collapse step. The functions give the results; the data members
/// keep what they need of earlier batches.
struct CollapseWatch {
  double fall;
  std::size_t window;

  // ring buffer of the last T batches, or of all batches of a run shorter than T; the next batch overwrites index `place`
  std::vector<double> mean, peak_before;
  std::vector<std::int32_t> step;
  std::size_t place = 0;
  std::int64_t batches = 0;
  double sum = 0;  ///< sum of `mean`; computed anew each time the ring is full, so that rounding errors do not add up

  double latest = std::numeric_limits<double>::quiet_NaN();  ///< mean of the latest window
  double peak = -std::numeric_limits<double>::infinity();    ///< largest mean of a window so far
  double largest_fall = 0;                                   ///< largest distance of a window's mean below the peak, levels
  std::size_t low = 0;                                       ///< number of latest batches, all more than `fall` below the peak before their first
  std::int32_t collapse_step = -1;                           ///< first step of the collapse; -1 = no collapse

  CollapseWatch(const RecordConfig& config, int steps);
  /// Adds the mean observed reward of step t's batch. Do not add a batch without rewards: windows skip it.
  void add(int t, double reward);

  /// has_window(): there were batches enough for one window. could_tell(): enough for two; fewer cannot show a collapse.
  bool has_window() const { return batches >= static_cast<std::int64_t>(window); }
  bool could_tell() const { return batches >= 2 * static_cast<std::int64_t>(window); }
  bool collapsed() const { return collapse_step >= 0; }
  /// Returns whether a run that collapsed has recovered: the latest window's mean is at most collapse_fall below the peak.
  bool back() const { return latest >= peak - fall; }

  /// Saves the state to a checkpoint's archive, or loads it (train/checkpoint/checkpoint.hpp).
  template <class Archive>
  void keep(Archive& a) {
    std::span<double> means(mean), peaks(peak_before);
    std::span<std::int32_t> steps(step);
    a(means, peaks, steps, place, batches, sum, latest, peak, largest_fall, low, collapse_step);
    a.require(place < mean.size() && low <= mean.size());
  }
};

/// Returns the bytes of memory that a CollapseWatch takes in a run of `steps` steps.
double watch_bytes(const RecordConfig& config, int steps);

struct RunSpec;

/// The qualities between which gains are measured, in levels. `start`: the uniform policy's in the bandit, the first recorded one in the
/// toy language model. `best`: the highest possible.
struct Headroom {
  double start = 0, best = 0;
};

/// Mean observed reward over the last tenth of the steps, recorded or not. One batch alone would be noisy.
struct FinalReward {
  int first;
  double sum = 0, batches = 0;
  explicit FinalReward(int steps);
  void add(int t, const SeenSum& seen);
  double mean() const { return sum / batches; }
};

/// Returns the values of the record's curve `name`. Failure `internal` if the record has no such curve.
const std::vector<double>& curve_of(const RunRecord& r, std::string_view name);

/// Completes a record: computes final values and step_time_median from the curves, drops curves without values, and sets status ok.
/// `judge_calls`: expected calls of the judge in all steps. `by_judge`: the same for each judge of a panel, if the price or the time of the
/// calls depends on who answers (bills_by_judge() in schedule/cost.hpp); else empty.
void close_record(RunRecord& r, const RunSpec& spec, const Headroom& between, double final_reward, const CollapseWatch& watch,
                  double judge_calls, const CallsByJudge& by_judge = {});

}  // namespace odrpo
