// The record of a run while it is made: its names, the values of its curves, its seconds.
#pragma once
#include <functional>
#include <string>

#include "results/store/record.hpp"
#include "train/curves.hpp"
#include "train/prompt_batch.hpp"

namespace odrpo {

struct RunSpec;

/// A record with the names of its run and nothing else: status failed, with the reason.
RunRecord failed_record(const RunSpec& spec, const std::string& why);
/// The record of a run in which `what` ("parameters are") is no finite number before step t.
RunRecord diverged_record(const RunSpec& spec, const std::string& what, int t);

/// What `train` returns; what it throws makes the run fail with that reason, but for Failure(Exit::device), which no run can record.
RunRecord trained_or_failed(const RunSpec& spec, const std::function<RunRecord()>& train);

/// A record with every curve's name and no values. Its status is failed until close_record (train/final_values.hpp).
RunRecord begin_record(const RunSpec& spec);
/// A curve of a record that is not closed.
std::vector<double>& curve_of(RunRecord& r, CurveId id);
/// Appends a value to a curve, if the run has it.
void add_value(RunRecord& r, const RunSpec& spec, CurveId id, double x);

/// A batch in numbers. Rewards that are missing are left out.
struct BatchSummary {
  double reward = 0, missing = 0;           ///< mean seen reward (NaN without any), share of responses without one
  double rms = 0, lowest = 0, highest = 0;  ///< of the estimator's own advantages, before whitening
  DeadShares dead{};
};
BatchSummary summarise(const RunSpec& spec, const RewardBatch& b);
/// Appends a batch's values; `truth` = mean true quality of its responses.
void add_batch(RunRecord& r, const RunSpec& spec, const BatchSummary& seen, double truth);

/// Appends the seconds per step since the record at `last_step`, and begins again at t.
void record_seconds(RunRecord& r, double (&seconds)[stage_count], int t, int& last_step);

}  // namespace odrpo
