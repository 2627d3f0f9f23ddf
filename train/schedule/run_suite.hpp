// Runs a suite: workers and engines train, one thread owns the result store; committed runs survive a kill at any instant. The parts of a
// call, which ranks share, stand below.
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

// What the result store must know of a suite.

struct Suite;

/// What the store must know of a suite, without provenance. The fingerprint covers every run's canonical text and the program's version.
SuiteFacts suite_facts(const Suite& suite, const std::string& program_version);

/// Trains what is missing of the suite and assembles the output. The result does not depend on jobs, on the order of commits or on how
/// often the work was interrupted, nor on engines. A run that fails is recorded with its reason and the others go on. When an engine or the
/// disk fails, what is finished is committed if it can be, and the Failure is thrown with saved_text.
RunReport run_suite(const Suite& suite, const SuiteFacts& facts, const RunSettings& settings);

// A call that trains runs of a suite: workers and engines train, this thread commits what they finish. Shared by run_suite and its ranks.

/// What a rank does besides, while runs are trained. Called by the committing thread.
struct CallHooks {
  std::function<void(WorkerPool& pool)> turn = {};  ///< about every `wait`, and after each commit
  std::function<void(std::span<const RunRecord> runs, const std::string& shard)> committed = {};
  std::function<void(Tally& tally)> add_others = {};  ///< adds what other ranks have done, before the tally is shown
  std::chrono::milliseconds wait{100};
  bool more = false;  ///< runs come while others are trained: the pool is closed by `turn`, or by a stop
};

class SuiteCall {
 public:
  SuiteCall(const Suite& suite, const RunSettings& settings, WorkFolder& folder);

  /// Which runs are saved.
  std::vector<bool> done() const;
  /// Trains what `rest` says, and what hooks add, until all of it is committed or a stop; `saved` runs were there before. Returns why it
  /// ended early, if it did. The report has what was done.
  std::optional<Failure> train(Schedule rest, Workload& workload, std::size_t saved, const CallHooks& hooks = {});
  /// Shows the tally again, also `over` for the last time.
  void show(const Workload& workload, const CallHooks& hooks = {});

  const RunWorlds& worlds() const { return worlds_; }
  const Schedule& schedule() const { return schedule_; }  ///< of all runs
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
  std::chrono::steady_clock::time_point began_;
};

/// Trains the runs that are not committed; false when it had to stop before the last one. Failure with_saved_runs().
bool train_missing(SuiteCall& call, const Suite& suite, const RunSettings& settings);
/// Makes the output of what is committed, and trains again what was damaged since, until the report has a digest or was stopped.
void assemble_or_train_again(SuiteCall& call, const Suite& suite, const RunSettings& settings, WorkFolder& folder);

// The checkpoints of a work folder, for any worker; and the first notes for the user.

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
