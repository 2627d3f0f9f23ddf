// Declares the settings, the progress and the report of a call that trains a suite.
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

/// Progress of a suite. `committed` runs are safe on disk, `trained` ones may still wait for the next commit.
struct Tally {
  std::size_t total = 0;      ///< runs of the suite
  std::size_t resumed = 0;    ///< runs that an earlier call had committed
  std::size_t trained = 0;    ///< runs finished by this call, failed ones included
  std::size_t failed = 0;     ///< runs of `trained` that failed
  std::size_t committed = 0;  ///< runs of `trained` that are on disk, or in memory for the output that is made at once
  std::size_t saved = 0;      ///< runs on disk that did not fail, including those of earlier calls
  double elapsed = 0;         ///< seconds since the training began, with the making of its first worlds
  double stepping = 0;        ///< seconds since this call's first training steps were seen; with engines, which tell of steps late, `elapsed`
  Work work;                  ///< steps and estimated seconds, including those of runs in progress
  bool over = false;          ///< true in the last report: nothing more will be trained
};

struct RunSettings {
  std::string output;                 ///< the result file to make
  int jobs = 1;                       ///< worker threads
  std::vector<BatchEngine> engines;   ///< engines for the runs that can be batched; a thread of its own drives each
  std::optional<Schedule> schedule;   ///< schedule of all runs in the order of run_order(), with these engines; absent = run_suite() makes it
  bool force = false;                 ///< begin anew: discard an output or a work folder that is in the way
  std::atomic<bool>* stop = nullptr;  ///< set from outside (a signal) or when an engine fails: begin no run, commit finished runs
  std::function<void(const Tally&)> on_progress;     ///< called from the calling thread: before training, then about 10 times a second
  double commit_seconds = 1;                         ///< commit finished runs at least this often …
  std::size_t commit_bytes = std::size_t{64} << 20;  ///< … or when so many bytes of them wait
  std::size_t queue_bytes = std::size_t{256} << 20;  ///< bytes of finished runs that may wait for a commit; beyond, training pauses
  double checkpoint_seconds = 30;                    ///< seconds of training between two checkpoints of a run (CheckpointStore)
  ChooseColumns columns;                             ///< columns of the report's table besides those that are always read
  std::function<std::string()> build = [] { return std::string(); };  ///< names the program's build: another build's checkpoints are ignored
  System system = posix_system();                    ///< system calls by which the result store reaches the disk
};

struct RunReport {
  std::size_t total = 0, ran = 0, resumed = 0, failed = 0;
  std::size_t saved = 0;              ///< runs on disk that did not fail, including those of earlier calls
  bool stopped = false;               ///< `stop` was set before all runs were done
  std::size_t by_engines = 0;         ///< runs of `ran` that engines trained
  std::size_t half_way = 0;           ///< stopped or failed runs that have a checkpoint
  std::size_t starts = 0;             ///< worlds for which all or some supervised steps are stored
  bool complete = false;              ///< the output already held the whole suite, so nothing was done
  std::string digest;                 ///< result digest of the output; empty when stopped
  ResultFile table;                   ///< root table of an output that this call made
  std::vector<std::string> failures;  ///< "id: reason", the first ten
  std::vector<std::string> notes;     ///< what the work folder held: ignored (a damaged shard, …) or continued (a checkpoint)
};

/// Says what a call that ended early leaves on disk and how to go on: "3 of 8 runs are saved in x.h5.work, 1 more half-way; the same
/// command continues".
std::string saved_text(const RunReport& report, const RunSettings& settings);

/// The failure that ended training or committing early, with saved_text() added to its message.
Failure with_saved_runs(const Failure& why, const RunReport& report, const RunSettings& settings);

}  // namespace odrpo
