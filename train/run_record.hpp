// Declares how the record of a run is filled while it trains: names, values of curves, seconds.
#pragma once
#include <functional>
#include <string>

#include "results/store/record.hpp"
#include "train/curves.hpp"
#include "train/prompt_batch.hpp"

namespace odrpo {

struct RunSpec;

/// Returns a record with the run's id, names and seed, without values: status failed, with `why` as its error.
RunRecord failed_record(const RunSpec& spec, const std::string& why);
/// The failed record of a run that diverged: `what` (for example "parameters are") was not finite at step t.
RunRecord diverged_record(const RunSpec& spec, const std::string& what, int t);

/// Returns what `train` returns. If `train` throws, returns a failed record with the exception's reason. Only Failure `device` is thrown
/// on, since no run can record it.
RunRecord trained_or_failed(const RunSpec& spec, const std::function<RunRecord()>& train);

/// A record with the name of every curve and no values. Its status is failed until close_record (train/final_values.hpp) completes it.
RunRecord begin_record(const RunSpec& spec);
/// The values of a curve of a record that close_record has not completed.
std::vector<double>& curve_of(RunRecord& r, CurveId id);
/// Appends a value to a curve, if the run has it.
void add_value(RunRecord& r, const RunSpec& spec, CurveId id, double x);

/// Statistics of one batch. Missing rewards are left out.
struct BatchSummary {
  double reward = 0, missing = 0;           ///< mean observed reward (NaN if all are missing), share of responses without one
  double rms = 0, lowest = 0, highest = 0;  ///< of the advantages before whitening: root mean square, smallest, largest
  DeadShares dead{};
};
BatchSummary summarise(const RunSpec& spec, const RewardBatch& b);
/// Appends a batch's statistics to the curves; `truth`: mean true quality of its responses.
void add_batch(RunRecord& r, const RunSpec& spec, const BatchSummary& seen, double truth);

/// Appends the mean seconds per step of each stage since the record at `last_step`. Then clears `seconds` and sets last_step = t.
void record_seconds(RunRecord& r, double (&seconds)[stage_count], int t, int& last_step);

}  // namespace odrpo
