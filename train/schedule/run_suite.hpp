// Declares how a suite runs: workers and engines train, one thread owns the result store; committed runs survive a kill at any instant.
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/suite.hpp"
#include "kernels/shared/failure.hpp"
#include "results/store/store.hpp"
#include "train/checkpoint/checkpoint.hpp"
#include "train/run_settings.hpp"
#include "train/schedule/run_order.hpp"
#include "train/schedule/worker_pool.hpp"

namespace odrpo {

// Describes a suite to the result store.

struct Suite;

/// Returns what the result store must know of a suite, except provenance. The fingerprint covers every run's canonical text and the
/// program's version.
SuiteFacts suite_facts(const Suite& suite, const std::string& program_version);

/// Trains the runs of the suite that are not saved yet, and assembles the output. The result does not depend on jobs, engines, the order of
/// commits or interruptions. A run that fails is recorded with its reason, and the other runs go on. When an engine or the disk fails,
/// finished runs are committed if possible, and the Failure that with_saved_runs() makes is thrown.
RunReport run_suite(const Suite& suite, const SuiteFacts& facts, const RunSettings& settings);

// SuiteCall: one call that trains runs of a suite. Workers and engines train; the calling thread commits what they finish. run_suite() and
// the ranks of MPI use it.

/// What a rank of MPI adds to a call while runs train. The committing thread calls these functions.
struct CallHooks {
  std::function<void(WorkerPool& pool)> turn = {};  ///< called at least every `wait`, and whenever records arrive
  std::function<void(std::span<const RunRecord> runs, const std::string& shard)> committed = {};
  std::function<void(Tally& tally)> add_others = {};  ///< adds what other ranks have done to a tally before it is shown
  std::chrono::milliseconds wait{100};
  bool more = false;  ///< runs are added while others train; `turn` or a stop closes the pool
};

class SuiteCall {
 public:
  SuiteCall(const Suite& suite, const RunSettings& settings, WorkFolder& folder);

  /// Returns for each run whether it is saved.
  std::vector<bool> done() const;
  /// Trains the runs of `rest`, and those that hooks add, until all of them are committed or until a stop. `saved`: number of runs that
  /// were saved before. Returns the failure that ended it early, if any. Fills the report.
  std::optional<Failure> train(Schedule rest, Workload& workload, std::size_t saved, const CallHooks& hooks = {});
  /// Commits the runs that were held for an output that cannot be made. Failures are those of with_saved_runs().
  void commit_held();
  /// Reports the progress once more, for the last time with tally.over set.
  void show(const Workload& workload, const CallHooks& hooks = {});

  const RunWorlds& worlds() const { return worlds_; }
  const Schedule& schedule() const { return schedule_; }  ///< of all runs, saved or not
  std::atomic<bool>& stop() { return stop_; }
  Tally tally;
  RunReport report;

 private:
  void count_finished(const std::vector<RunRecord>& waiting, std::size_t from);
  void commit_as_they_come(WorkerPool& pool, const Workload& workload, const CallHooks& hooks);

  const Suite& suite_;
  const RunSettings& settings_;
  WorkFolder& folder_;
  std::atomic<bool> never_{false};
  std::atomic<bool>& stop_;
  const RunWorlds worlds_;
  Schedule schedule_;
  std::vector<RunRecord> held_;  ///< runs in memory alone, until the output is made
  std::chrono::steady_clock::time_point began_;
  double before_steps_ = 0;  ///< Tally::elapsed in the last report before a step was trained
};

/// Trains the runs that are not committed. Returns false when it had to stop before the last one. Failures are those of with_saved_runs().
bool train_missing(SuiteCall& call, const Suite& suite, const RunSettings& settings);
/// Makes the output from the committed runs. Runs that turn out damaged are trained again. Ends when the report has a digest or is marked
/// stopped. Failure `bad_input` if the third attempt fails too.
void assemble_or_train_again(SuiteCall& call, const Suite& suite, const RunSettings& settings, WorkFolder& folder);

// CheckpointFolder: keeps the checkpoints of all workers in the work folder, and the first notes for the user.

class CheckpointFolder {
 public:
  CheckpointFolder(const WorkFolder& folder, const RunSettings& settings);
  CheckpointFolder(const CheckpointFolder&) = delete;
  CheckpointFolder& operator=(const CheckpointFolder&) = delete;
  const CheckpointStore& store() const { return store_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::string load(CheckpointKind kind, const std::string& name);
  bool save(CheckpointKind kind, const std::string& name, std::string_view bytes);
  void report(const std::string& text);

  const WorkFolder& folder_;
  CheckpointStore store_;
  std::once_flag named_;
  std::string build_;
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::vector<std::string> notes_;
};

}  // namespace odrpo
