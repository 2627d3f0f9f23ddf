// Runs the pool's threads: workers (one run at a time) and drivers (one batch on their engine). A failure that a run cannot record ends all
// work.
#include "train/schedule/worker_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <system_error>
#include <utility>

#include "config/spec.hpp"
#include "config/suite.hpp"
#include "kernels/system/fail.hpp"
#include "train/checkpoint/checkpoint.hpp"
#include "train/run_record.hpp"
#include "train/schedule/run_order.hpp"
#include "train/schedule/workload.hpp"
#include "train/train.hpp"

namespace odrpo {
namespace {

std::size_t bytes_of(const RunRecord& r) {
  std::size_t bytes = 1024 + r.seconds.size() * sizeof(float) + r.step.size() * sizeof(std::int32_t);
  for (const auto& c : r.curves) bytes += c.values.size() * sizeof(double);
  return bytes;
}

}  // namespace

void RecordQueue::push(RunRecord record) {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [&] { return records_.empty() || bytes_ < limit_ || closed_; });
  bytes_ += bytes_of(record);
  records_.push_back(std::move(record));
  filled_.notify_one();
}

void RecordQueue::trainers(std::size_t n) {
  const std::lock_guard lock(mutex_);
  trainers_ = n;
}

void RecordQueue::trainer_left() {
  const std::lock_guard lock(mutex_);
  --trainers_;
  filled_.notify_one();
}

void RecordQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  room_.notify_all();
}

bool RecordQueue::take(std::vector<RunRecord>& out, std::size_t& bytes, std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  filled_.wait_until(lock, deadline, [&] { return !records_.empty() || trainers_ == 0; });
  std::move(records_.begin(), records_.end(), std::back_inserter(out));
  records_.clear();
  bytes += std::exchange(bytes_, 0);
  room_.notify_all();
  return trainers_ > 0;
}

WorkerPool::WorkerPool(const WorkerPoolSettings& settings, Schedule schedule)
    : settings_(settings),
      workers_(settings.more ? static_cast<std::size_t>(std::max(settings.jobs, 1))
                             : std::min(static_cast<std::size_t>(std::max(settings.jobs, 1)), schedule.workers.size())),
      runs_(
          std::move(schedule.workers), [&worlds = settings.worlds](std::size_t i, std::size_t j) { return worlds.same(i, j); }, workers_,
          settings.more),
      more_(settings.more),
      batches_(std::move(schedule.batches)),
      queue_(settings.queue_bytes) {
  const std::size_t drivers = batches_.empty() && !settings_.more ? 0 : settings_.engines.size();
  queue_.trainers(workers_ + drivers);
  cache_.threads = std::max(1, settings_.jobs / static_cast<int>(std::max<std::size_t>(1, settings_.engines.size())));
  threads_.reserve(workers_ + drivers);
  for (std::size_t d = 0; d < drivers; ++d) try {
      threads_.emplace_back([this, d] { drive(settings_.engines[d]); });
    } catch (const std::system_error&) {
      give_up(Failure(Exit::internal, "the system allows no thread for " + settings_.engines[d].name));
      queue_.trainer_left();
    }
  for (std::size_t w = 0; w < workers_; ++w) try {
      threads_.emplace_back([this, w] { work(w); });
    } catch (const std::system_error&) {  // the system allows no more threads: go on with fewer
      if (w == 0) give_up(Failure(Exit::internal, "the system allows no worker thread"));
      for (std::size_t missing = w; missing < workers_; ++missing) queue_.trainer_left();
      break;
    }
}

WorkerPool::~WorkerPool() {
  if (std::uncaught_exceptions() > 0) settings_.stop = true;  // e.g. out of memory: what is being trained cannot be kept
  close();
  queue_.close();
  for (auto& t : threads_) t.join();
}

void WorkerPool::add(Schedule schedule) {
  runs_.add(schedule.workers);
  const std::lock_guard lock(mutex_);
  std::move(schedule.batches.begin(), schedule.batches.end(), std::back_inserter(batches_));
  came_.notify_all();
}

void WorkerPool::close() {
  runs_.close();
  const std::lock_guard lock(mutex_);
  more_ = false;
  came_.notify_all();
}

std::size_t WorkerPool::waiting() {
  std::size_t runs = runs_.waiting();
  const std::lock_guard lock(mutex_);
  for (const RunBatch& batch : batches_) runs += batch.runs.size();
  return runs;
}

std::optional<Failure> WorkerPool::failure() {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void WorkerPool::give_up(const Failure& failure) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = failure;
  settings_.stop = true;
}

void WorkerPool::work(std::size_t w) {
  try {
    train_runs(w);
  } catch (const std::bad_alloc&) {  // not even the record of a failed run has room
    give_up(out_of_memory_);
  }
  queue_.trainer_left();
}

void WorkerPool::train_runs(std::size_t w) {
  RunCache cache(cache_);  // a copy of its own keeps this worker's world, while another worker makes one
  cache.threads = settings_.more ? 1 : std::max(1, settings_.jobs / static_cast<int>(settings_.suite.runs.size()));
  while (!settings_.stop) {
    const std::optional<WorkQueue::Taken> taken = runs_.next(w);
    if (!taken) break;
    const RunSpec spec = settings_.suite.runs[taken->run];
    RunSteps& steps = settings_.workload.begin(w, spec, taken->opens_world);
    RunRecord record = trained_or_failed(spec, [&] { return train(spec, cache, settings_.stop, settings_.store, &steps); });
    if (record.status == RunStatus::failed && record.error == "stopped") break;
    settings_.workload.end(w);
    queue_.push(std::move(record));
  }
}

void WorkerPool::drive(const BatchEngine& engine) {
  try {
    while (!settings_.stop) {
      std::unique_lock lock(mutex_);
      std::optional<RunBatch> batch = next_batch(batches_, engine);
      for (; !batch && more_ && !settings_.stop; batch = next_batch(batches_, engine)) came_.wait(lock);
      lock.unlock();
      if (!batch) break;
      train_batch(engine, *batch);
    }
  } catch (const Failure& failure) {
    give_up(Failure(failure.code, engine.name + ": " + failure.what()));
  } catch (const std::bad_alloc&) {
    give_up(Failure(Exit::internal, engine.name + ": out of memory on the host"));
  } catch (const std::exception& e) {
    give_up(Failure(Exit::internal, engine.name + ": internal error: " + e.what()));
  } catch (...) {
    give_up(Failure(Exit::internal, engine.name + ": internal error"));
  }
  queue_.trainer_left();
}

void WorkerPool::train_batch(const BatchEngine& engine, const RunBatch& batch) {
  std::vector<RunSpec> runs;
  runs.reserve(batch.runs.size());
  for (const std::size_t i : batch.runs) runs.push_back(settings_.suite.runs[i]);
  std::vector<const RunSpec*> specs;
  specs.reserve(runs.size());
  for (const RunSpec& run : runs) specs.push_back(&run);
  std::size_t done = 0;
  const bool side_by_side = batch.world == WorldKind::toy_lm;  // each run counts its own steps
  const BatchEngine::Done hand_over = [&](RunRecord record) {
    queue_.push(std::move(record));
    if (!side_by_side && done < specs.size()) settings_.workload.add_batched(*specs[done]);  // perhaps of another run: only the sum counts
    ++done;
    ++by_engines_;
  };
  BatchEngine::Progress progress;
  if (side_by_side) {
    const std::size_t first = settings_.workload.places_of_engine(static_cast<std::size_t>(&engine - settings_.engines.data()));
    progress.begin = [&workload = settings_.workload, first](std::size_t place, const RunSpec& run, bool opens_world) -> RunSteps& {
      return workload.begin(first + place, run, opens_world);
    };
    progress.end = [&workload = settings_.workload, first](std::size_t place) { workload.end(first + place); };
  }
  engine.train({specs, cache_, settings_.stop, settings_.store, hand_over, progress});
  if (done != specs.size() && !settings_.stop) fail(Exit::internal, "internal error: {} of {} runs came back", done, specs.size());
}

}  // namespace odrpo
