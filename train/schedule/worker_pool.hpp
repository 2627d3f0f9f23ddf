// Declares the worker pool: threads that train runs or drive engines, and the queue of their records to the committing thread.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "kernels/shared/failure.hpp"
#include "results/store/record.hpp"
#include "train/batched/engine.hpp"
#include "train/run_cache.hpp"
#include "train/schedule/run_order.hpp"
#include "train/schedule/scheduler.hpp"

namespace odrpo {

struct CheckpointStore;
class RunWorlds;
struct Suite;
class Workload;

/// The queue of finished records from the training threads to the committing thread.
class RecordQueue {
 public:
  /// push() waits while the queue holds `limit` bytes or more.
  explicit RecordQueue(std::size_t limit) : limit_(limit) {}
  void push(RunRecord record);
  /// Sets the number of threads that will push.
  void trainers(std::size_t n);
  void trainer_left();
  /// Ends all waiting in push(), because nobody will take the records.
  void close();
  /// Moves all finished records to `out` and adds their bytes; waits for the first until `deadline`. Returns false when all training
  /// threads have left: `out` then has the last records.
  bool take(std::vector<RunRecord>& out, std::size_t& bytes, std::chrono::steady_clock::time_point deadline);

 private:
  const std::size_t limit_;
  std::mutex mutex_;
  std::condition_variable filled_, room_;
  std::deque<RunRecord> records_;
  std::size_t bytes_ = 0, trainers_ = 0;
  bool closed_ = false;
};

/// What a pool is made from. All of it must outlive the pool.
struct WorkerPoolSettings {
  const Suite& suite;
  const std::vector<BatchEngine>& engines;
  const CheckpointStore& store;
  std::atomic<bool>& stop;  ///< the pool sets it when a thread cannot go on
  const RunWorlds& worlds;
  Workload& workload;  ///< made for `jobs` workers
  int jobs = 1;
  std::size_t queue_bytes = 0;
  bool more = false;  ///< runs may be added until close(); workers and drivers without work wait for them
};

/// The threads that train. Workers take their next run from the WorkQueue; drivers take the next batch that fits their engine. They end
/// when none is left or a stop is asked for. The destructor joins them.
class WorkerPool {
 public:
  WorkerPool(const WorkerPoolSettings& settings, Schedule schedule);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  RecordQueue& queue() { return queue_; }
  /// Adds runs and batches, if settings.more.
  void add(Schedule schedule);
  /// Says that nothing more will be added. Call it on a stop too: it wakes the workers and drivers that wait for more.
  void close();
  /// Returns the number of runs that no worker or engine has begun.
  std::size_t waiting();
  /// Why the pool gave up, with the exit code of the first failure; nothing if it did not. Final once the queue's take() has returned
  /// false.
  std::optional<Failure> failure();
  /// Returns the number of runs that engines have trained.
  std::size_t by_engines() const { return by_engines_; }

 private:
  void work(std::size_t w);
  void train_runs(std::size_t w);
  void drive(const BatchEngine& engine);
  void train_batch(const BatchEngine& engine, const RunBatch& batch);
  void give_up(const Failure& failure);

  const WorkerPoolSettings settings_;
  const std::size_t workers_;
  WorkQueue runs_;  // for the workers
  std::atomic<std::size_t> by_engines_{0};
  std::mutex mutex_;
  std::condition_variable came_;
  bool more_;                       // under mutex_
  std::deque<RunBatch> batches_;    // batches that no engine has taken; under mutex_
  const Failure out_of_memory_{Exit::limits, "out of memory"};  // made while there is some
  std::optional<Failure> failure_;                              // under mutex_
  RunCache cache_;
  RecordQueue queue_;
  std::vector<std::thread> threads_;
};

}  // namespace odrpo
