// Workers train one run at a time, drivers a batch on their engine; what somebody cannot go on from ends the work of all.
#include "suites/team.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <system_error>
#include <utility>

namespace odrpo {
namespace {

std::size_t bytes_of(const RunRecord& r) {
  std::size_t bytes = 1024 + r.seconds.size() * sizeof(float) + r.step.size() * sizeof(std::int32_t);
  for (const auto& c : r.curves) bytes += c.values.size() * sizeof(double);
  return bytes;
}

RunRecord train_safely(const RunSpec& spec, Shared& shared, const std::atomic<bool>& stop, const Keeper& keeper) {
  try {
    return train(spec, shared, stop, keeper);
  } catch (const std::bad_alloc&) {
    return failed_record(spec, "out of memory");
  } catch (const std::exception& e) {
    return failed_record(spec, e.what());
  }
}

}  // namespace

void Queue::push(RunRecord record) {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [&] { return records_.empty() || bytes_ < limit_ || closed_; });
  bytes_ += bytes_of(record);
  records_.push_back(std::move(record));
  filled_.notify_one();
}

void Queue::trainers(std::size_t n) {
  const std::lock_guard lock(mutex_);
  trainers_ = n;
}

void Queue::trainer_left() {
  const std::lock_guard lock(mutex_);
  --trainers_;
  filled_.notify_one();
}

void Queue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  room_.notify_all();
}

bool Queue::take(std::vector<RunRecord>& out, std::size_t& bytes, std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  filled_.wait_until(lock, deadline, [&] { return !records_.empty() || trainers_ == 0; });
  std::move(records_.begin(), records_.end(), std::back_inserter(out));
  records_.clear();
  bytes += std::exchange(bytes_, 0);
  room_.notify_all();
  return trainers_ > 0;
}

Team::Team(const TeamSettings& settings, Deal deal)
    : to_(settings), todo_(std::move(deal.workers)), batches_(std::move(deal.batches)), queue_(settings.queue_bytes) {
  const std::size_t workers = std::min(static_cast<std::size_t>(std::max(to_.jobs, 1)), todo_.size());
  const std::size_t drivers = batches_.empty() ? 0 : to_.engines.size();
  queue_.trainers(workers + drivers);
  shared_.threads = to_.jobs;
  threads_.reserve(workers + drivers);
  for (std::size_t d = 0; d < drivers; ++d) try {
      threads_.emplace_back([this, d] { drive(to_.engines[d]); });
    } catch (const std::system_error&) {
      give_up(Exit::internal, "the system allows no thread for " + to_.engines[d].name);
      queue_.trainer_left();
    }
  for (std::size_t w = 0; w < workers; ++w) try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {  // no more threads to be had: go on with those there are
      if (w == 0) give_up(Exit::internal, "the system allows no worker thread");
      for (std::size_t missing = w; missing < workers; ++missing) queue_.trainer_left();
      break;
    }
}

Team::~Team() {
  if (std::uncaught_exceptions() > 0) to_.stop = true;  // e.g. the disk is full: what is being trained cannot be kept
  queue_.close();
  for (auto& t : threads_) t.join();
}

std::optional<Failure> Team::failure() {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void Team::give_up(Exit code, const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_.emplace(code, why);
  to_.stop = true;
}

void Team::work() {
  while (!to_.stop) {
    const std::size_t i = next_++;
    if (i >= todo_.size()) break;
    const RunSpec spec = to_.suite.runs[todo_[i]];
    RunRecord record = train_safely(spec, shared_, to_.stop, to_.keeper);
    if (record.status == RunStatus::failed && record.error == "stopped") break;
    queue_.push(std::move(record));
  }
  queue_.trainer_left();
}

void Team::drive(const LaneEngine& engine) {
  try {
    while (!to_.stop) {
      std::unique_lock lock(mutex_);
      const std::optional<Batch> batch = next_batch(batches_, engine.memory_bytes);
      lock.unlock();
      if (!batch) break;
      train_batch(engine, *batch);
    }
  } catch (const Failure& failure) {
    give_up(failure.code, engine.name + ": " + failure.what());
  } catch (const std::bad_alloc&) {
    give_up(Exit::internal, engine.name + ": out of memory on the host");
  } catch (const std::exception& e) {
    give_up(Exit::internal, engine.name + ": internal error: " + e.what());
  } catch (...) {
    give_up(Exit::internal, engine.name + ": internal error");
  }
  queue_.trainer_left();
}

void Team::train_batch(const LaneEngine& engine, const Batch& batch) {
  std::vector<RunSpec> runs;
  runs.reserve(batch.runs.size());
  for (const std::size_t i : batch.runs) runs.push_back(to_.suite.runs[i]);
  std::vector<const RunSpec*> specs;
  specs.reserve(runs.size());
  for (const RunSpec& run : runs) specs.push_back(&run);
  std::size_t done = 0;
  engine.train(specs, shared_, to_.stop, [&](RunRecord record) {
    queue_.push(std::move(record));
    ++done;
    ++by_engines_;
  });
  if (done != specs.size() && !to_.stop)
    throw Failure(Exit::internal, fmt::format("internal error: {} of {} runs came back", done, specs.size()));
}

}  // namespace odrpo
