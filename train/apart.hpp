// Trains a run in a child process, so that code of others that prints, ends the process or crashes ends this run alone.
#pragma once
#include <atomic>
#include <functional>

#include "results/store/record.hpp"
#include "train/schedule/run_steps.hpp"

namespace odrpo {

struct RunSpec;

/// Forks a child that calls train(steps) and sends its record back. `train` uses nothing that another thread may be changing: what runs share is made before. `stop` kills the
/// child: the record is then failed, "stopped". A child that does not finish a step within `deadline` seconds is killed, and one that prints, or ends without a record, makes
/// a failed record with the reason. `counted`, unless null, gets the steps that the child has done.
RunRecord train_apart(const RunSpec& spec, const std::atomic<bool>& stop, double deadline, RunSteps* counted, const std::function<RunRecord(RunSteps&)>& train);

}  // namespace odrpo
