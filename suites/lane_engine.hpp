// What trains many runs at once: each run a lane of a batch. A CUDA device is one (suites/device_lanes.hpp); the tests have its twin on
// the host. run_suite (suites/run.hpp) deals runs to engines and the rest to its workers.
#pragma once
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "results/record.hpp"
#include "suites/train.hpp"

namespace odrpo {

/// Trains runs that have a lane, of any shapes; better of one (lane_shape). Blocks until all are done or `stop` is set.
struct LaneEngine {
  std::string name;         ///< for people: "cuda:0 (NVIDIA H200)"
  double memory_bytes = 0;  ///< that its lanes may take together
  /// Hands over each finished record, of a run that failed too, from the calling thread; none of a run that `stop` interrupted. The records
  /// have the bits of train(). Throws Failure(Exit::device) when the device fails: what was handed over before stays good.
  using Done = std::function<void(RunRecord)>;
  std::function<void(const std::vector<const RunSpec*>& runs, Shared& shared, const std::atomic<bool>& stop, const Done& done)> train;
  std::function<double()> seconds = {};  ///< that its kernels have run so far; empty = not known
};

/// Why a run has no lane, in words that end "…: <it> trains on the CPU"; empty = it has one.
std::string why_no_lane(const RunSpec& spec);
/// Runs of equal text go together best: the same sizes and number of steps.
std::string lane_shape(const RunSpec& spec);
/// Bytes of an engine's memory that a run takes, with a world, laws and an estimator of its own.
double lane_bytes(const RunSpec& spec);

}  // namespace odrpo
