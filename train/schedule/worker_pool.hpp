// The worker pool: threads that train runs or drive engines, and the queue that takes their records to the thread that commits.
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

/// Finished records on their way to the committing thread.
class RecordQueue {
 public:
  /// Whoever pushes waits while `limit` bytes are in it.
  explicit RecordQueue(std::size_t limit) : limit_(limit) {}
  void push(RunRecord record);
  /// So many threads will push.
  void trainers(std::size_t n);
  void trainer_left();
  /// Nobody waits for room any more: the records will not be wanted.
  void close();
  /// Moves all finished records to `out`, adds their bytes; waits for the first until `deadline`. False when all trainers have left and
  /// nothing is queued.
  bool take(std::vector<RunRecord>& out, std::size_t& bytes, std::chrono::steady_clock::time_point deadline);

 private:
  const std::size_t limit_;
  std::mutex mutex_;
  std::condition_variable filled_, room_;
  std::deque<RunRecord> records_;
  std::size_t bytes_ = 0, trainers_ = 0;
  bool closed_ = false;
};

/// All of it outlives the pool.
struct WorkerPoolSettings {
  const Suite& suite;
  const std::vector<BatchEngine>& engines;
  const CheckpointStore& store;
  std::atomic<bool>& stop;  ///< set by the pool when a thread cannot go on
  const RunWorlds& worlds;
  Workload& workload;  ///< of as many workers as jobs
  int jobs = 1;
  std::size_t queue_bytes = 0;
  bool more = false;  ///< runs may be added until close(): workers and drivers wait for them
};

/// Workers take the next run of theirs (WorkQueue), drivers the next batch that fits their engine, until none is left or a stop is asked
/// for; leaving the scope joins them.
class WorkerPool {
 public:
  WorkerPool(const WorkerPoolSettings& settings, Schedule schedule);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  RecordQueue& queue() { return queue_; }
  /// More to train, where settings.more.
  void add(Schedule schedule);
  /// No more will be added. To be called on a stop too, since nobody waits for it elsewhere.
  void close();
  /// Runs that nobody has begun.
  std::size_t waiting();
  /// Why the pool gave up, with the exit code of the first failure; known when the queue's take() has returned false.
  std::optional<Failure> failure();
  /// Runs that engines have trained.
  std::size_t by_engines() const { return by_engines_; }

 private:
  void work(std::size_t w);
  void drive(const BatchEngine& engine);
  void train_batch(const BatchEngine& engine, const RunBatch& batch);
  void give_up(Exit code, const std::string& why);

  const WorkerPoolSettings settings_;
  const std::size_t workers_;
  WorkQueue runs_;  // the workers'
  std::atomic<std::size_t> by_engines_{0};
  std::mutex mutex_;
  std::condition_variable came_;
  bool more_;                       // under mutex_
  std::deque<RunBatch> batches_;    // that no engine has taken; under mutex_
  std::optional<Failure> failure_;  // under mutex_
  RunCache cache_;
  RecordQueue queue_;
  std::vector<std::thread> threads_;
};

}  // namespace odrpo
