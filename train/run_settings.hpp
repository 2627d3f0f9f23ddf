// What a call that trains a suite is told, how far it is, and what it reports.
#pragma once
#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/shared/failure.hpp"
#include "results/store/store.hpp"
#include "train/batched/engine.hpp"
#include "train/schedule/scheduler.hpp"
#include "train/schedule/workload.hpp"

namespace odrpo {

/// How far a suite is. `committed` runs are safe on disk, `trained` ones may still wait for the next commit.
struct Tally {
  std::size_t total = 0;      ///< runs of the suite
  std::size_t resumed = 0;    ///< runs that an earlier call had committed
  std::size_t trained = 0;    ///< runs finished by this call, failed ones included
  std::size_t failed = 0;     ///< of those, the failed ones
  std::size_t committed = 0;  ///< of those, the ones on disk
  std::size_t saved = 0;      ///< runs on disk that did not fail, those of earlier calls too
  double elapsed = 0;         ///< seconds since the training began
  Work work;                  ///< in steps, those of runs in progress too
  bool over = false;          ///< the last call: nothing more will be trained
};

struct RunSettings {
  std::string output;                 ///< the result file to make
  int jobs = 1;                       ///< worker threads
  std::vector<BatchEngine> engines;   ///< train the runs that can be batched, each driven by a thread of its own
  std::optional<Schedule> schedule;   ///< of all runs in run_order, for these engines; absent = run_suite makes it
  bool force = false;                 ///< begin from nothing; discard an output or work folder in the way
  std::atomic<bool>* stop = nullptr;  ///< set from outside (a signal) or when an engine fails: start nothing new, commit what is done
  std::function<void(const Tally&)> on_progress;     ///< called from the calling thread: before training, then about 10 times a second
  double commit_seconds = 1;                         ///< commit at least this often …
  std::size_t commit_bytes = std::size_t{64} << 20;  ///< … or when this much waits
  std::size_t queue_bytes = std::size_t{256} << 20;  ///< finished runs that may wait for the committing thread before others pause
  double checkpoint_seconds = 30;                    ///< long runs are checkpointed as often (CheckpointStore)
  std::function<std::string()> build = [] { return std::string(); };  ///< names the program's build: another build's checkpoints are ignored
  System system = posix_system();                    ///< by which the result store reaches the disk
};

struct RunReport {
  std::size_t total = 0, ran = 0, resumed = 0, failed = 0;
  std::size_t saved = 0;              ///< runs on disk that did not fail, those of earlier calls too
  bool stopped = false;               ///< by `stop`, before all runs were done
  std::size_t by_engines = 0;         ///< of those that ran
  std::size_t half_way = 0;           ///< runs that are stopped or failed and have a checkpoint
  std::size_t starts = 0;             ///< worlds of which supervised steps are stored, all or some
  bool complete = false;              ///< the output already held the whole suite: nothing was done
  std::string digest;                 ///< result digest of the output; empty when stopped
  std::vector<std::string> failures;  ///< "id: reason", the first ten
  std::vector<std::string> notes;     ///< what was found in the work folder: ignored, e.g. a damaged shard, or continued
};

/// What a call that ended early leaves behind and how to go on: "3 of 8 runs are saved in x.h5.work, 1 more half-way; the same command
/// continues".
std::string saved_text(const RunReport& report, const RunSettings& settings);

/// Why training or committing ended early, with what is left behind and how to go on.
Failure with_saved_runs(const Failure& why, const RunReport& report, const RunSettings& settings);

}  // namespace odrpo
