// run_suite: a queue between the workers that train and the one thread that commits.
#include "suites/run.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include "kernels/failure.hpp"
#include "results/digest.hpp"
#include "suites/canonical.hpp"
#include "suites/train.hpp"

namespace odrpo {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t queue_limit = std::size_t{256} << 20;  // bytes that may wait before workers pause
constexpr std::size_t failures_kept = 10, notes_kept = 100;

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

// The work folder as runs see it, from any worker; and what there is to tell of that, the first lines of it.
class Desk {
 public:
  Desk(const WorkFolder& folder, const RunSettings& settings) : folder_(folder) {
    keeper_.build = settings.build;
    keeper_.seconds = settings.checkpoint_seconds;
    keeper_.load = [this](Kept kind, const std::string& name) { return load(kind, name); };
    keeper_.save = [this](Kept kind, const std::string& name, std::string_view bytes) { return save(kind, name, bytes); };
    keeper_.tell = [this](const std::string& text) { tell(text); };
  }
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;
  const Keeper& keeper() const { return keeper_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::string load(Kept kind, const std::string& name) {
    KeptBytes found = folder_.kept(kind, name);
    if (found.damaged)
      tell(kind == Kept::checkpoint ? "ignored the damaged checkpoint of " + name : "ignored damaged weights of supervised steps");
    return std::move(found.bytes);
  }
  // a run that cannot be kept is trained all the same
  bool save(Kept kind, const std::string& name, std::string_view bytes) try {
    folder_.keep(kind, name, bytes);
    return true;
  } catch (const Failure& failure) {
    if (!failed_.exchange(true)) tell(std::string("long runs are not kept: ") + failure.what());
    return false;
  }
  void tell(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (notes_.size() < notes_kept) notes_.push_back(text);
  }

  const WorkFolder& folder_;
  Keeper keeper_;
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::vector<std::string> notes_;
};

// Finished records on their way from the workers to the committing thread.
class Queue {
 public:
  void push(RunRecord record) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return bytes_ < queue_limit || closed_; });
    bytes_ += bytes_of(record);
    records_.push_back(std::move(record));
    filled_.notify_one();
  }
  void worker_left() {
    std::lock_guard lock(mutex_);
    --workers_;
    filled_.notify_one();
  }
  // workers no longer wait for room: their records will not be wanted
  void close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    room_.notify_all();
  }
  void workers(int n) {
    std::lock_guard lock(mutex_);
    workers_ = n;
  }
  // Moves all finished records to `out`; waits for the first until `deadline`. False when all workers have left and nothing is queued.
  bool take(std::vector<RunRecord>& out, std::size_t& bytes, Clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    filled_.wait_until(lock, deadline, [&] { return !records_.empty() || workers_ == 0; });
    std::move(records_.begin(), records_.end(), std::back_inserter(out));
    records_.clear();
    bytes += std::exchange(bytes_, 0);
    room_.notify_all();
    return workers_ > 0;
  }

 private:
  std::mutex mutex_;
  std::condition_variable filled_, room_;
  std::deque<RunRecord> records_;
  std::size_t bytes_ = 0;
  int workers_ = 0;
  bool closed_ = false;
};

// Workers take the next run of the schedule until none is left or a stop is asked for; leaving the scope joins them.
class Team {
 public:
  Team(const Suite& suite, std::vector<std::size_t> todo, int jobs, std::atomic<bool>& stop, const Keeper& keeper)
      : suite_(suite), todo_(std::move(todo)), stop_(stop), keeper_(keeper) {
    const int wanted = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(std::max(jobs, 1)), todo_.size()));
    queue_.workers(wanted);
    for (int w = 0; w < wanted; ++w) try {
        threads_.emplace_back([this] { work(); });
      } catch (const std::system_error&) {  // no more threads to be had: go on with those there are
        for (int missing = w; missing < wanted; ++missing) queue_.worker_left();
        if (w == 0) throw Failure(Exit::internal, "the system allows no worker thread");
        break;
      }
  }
  ~Team() {
    if (std::uncaught_exceptions() > 0) stop_ = true;  // e.g. the disk is full: what is being trained cannot be kept
    queue_.close();
    for (auto& t : threads_) t.join();
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  Queue& queue() { return queue_; }

 private:
  void work() {
    while (!stop_) {
      const std::size_t i = next_++;
      if (i >= todo_.size()) break;
      RunRecord record = train_safely(suite_.runs[todo_[i]], shared_, stop_, keeper_);
      if (record.status == RunStatus::failed && record.error == "stopped") break;
      queue_.push(std::move(record));
    }
    queue_.worker_left();
  }

  const Suite& suite_;
  const std::vector<std::size_t> todo_;
  std::atomic<bool>& stop_;
  const Keeper& keeper_;
  std::atomic<std::size_t> next_{0};
  Shared shared_;
  Queue queue_;
  std::vector<std::thread> threads_;
};

// names the world and the law rows that a run needs, besides its seed: equal for all runs that share them
std::size_t world_of(const RunSpec& spec) {
  return std::hash<std::string>{}(canonical_fields(spec.env) + canonical_fields(spec.rater) + canonical_fields(spec.rater.world));
}

}  // namespace

std::vector<std::size_t> schedule(const Suite& suite) {
  std::vector<std::tuple<int, std::string, std::size_t, std::size_t>> order;  // seed, env, world, index
  order.reserve(suite.runs.size());
  for (std::size_t i = 0; i < suite.runs.size(); ++i)
    order.emplace_back(suite.runs[i].seed, suite.runs[i].env_name, world_of(suite.runs[i]), i);
  std::sort(order.begin(), order.end());
  std::vector<std::size_t> indices;
  indices.reserve(order.size());
  for (const auto& entry : order) indices.push_back(std::get<3>(entry));
  return indices;
}

SuiteFacts suite_facts(const Suite& suite, const std::string& program_version) {
  SuiteFacts facts;
  facts.name = suite.name;
  facts.axis_names = suite.axis_names;
  Sha256 hash;
  hash.add("odrpo-bench " + program_version + '\n');
  for (const RunSpec& run : suite.runs) {
    facts.run_ids.push_back(run.id);
    hash.add(run.id + '\n' + canonical_text(run) + '\n');
  }
  facts.fingerprint = hash.hex();
  return facts;
}

RunReport run_suite(const Suite& suite, const SuiteFacts& facts, const RunSettings& settings) {
  std::atomic<bool> never{false};
  std::atomic<bool>& stop = settings.stop ? *settings.stop : never;
  RunReport report;
  report.total = suite.runs.size();

  // what is already there
  WorkFolder folder(settings.output, facts, settings.force);
  report.notes = folder.notes();
  if (folder.complete()) {
    report.complete = true;
    report.resumed = report.total;
    return report;
  }
  std::vector<bool> done(report.total, false);
  for (std::size_t i : folder.finished()) done[i] = true;
  std::vector<std::size_t> todo;
  for (std::size_t i : schedule(suite))
    if (!done[i]) todo.push_back(i);

  Tally tally;
  tally.total = report.total;
  tally.resumed = report.resumed = report.total - todo.size();
  const auto tell = [&] {
    if (settings.on_progress) settings.on_progress(tally);
  };
  tell();

  // train the rest; commit at least every second or 64 MiB
  const std::size_t missing = todo.size();
  Desk desk(folder, settings);
  if (missing > 0) {
    Team team(suite, std::move(todo), settings.jobs, stop, desk.keeper());
    std::vector<RunRecord> waiting;
    std::size_t bytes = 0, counted = 0;
    auto last_commit = Clock::now();
    double period_seconds = std::min(0.05, settings.commit_seconds);  // short at first, so that even a short-lived call gets somewhere
    bool working = true;
    while (working) {
      const auto now = Clock::now();
      const auto period = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(period_seconds));
      auto until = now + std::chrono::milliseconds(100);
      if (!waiting.empty()) until = std::min(until, std::max(now, last_commit + period));
      working = team.queue().take(waiting, bytes, until);
      for (; counted < waiting.size(); ++counted) {
        const RunRecord& r = waiting[counted];
        ++tally.trained;
        if (r.status != RunStatus::failed) continue;
        ++tally.failed;
        if (report.failures.size() < failures_kept) report.failures.push_back(r.id + ": " + r.error);
      }
      const bool due = Clock::now() - last_commit >= period || bytes >= settings.commit_bytes || !working || stop;
      if (due && !waiting.empty()) {
        folder.commit(waiting);
        tally.committed += waiting.size();
        waiting.clear();
        bytes = counted = 0;
        last_commit = Clock::now();
        period_seconds = std::min(2 * period_seconds, settings.commit_seconds);
      }
      tell();
    }
  }
  tally.over = true;
  tell();

  report.notes.insert(report.notes.end(), desk.notes().begin(), desk.notes().end());
  report.ran = tally.trained;
  report.failed = tally.failed;
  report.stopped = tally.trained < missing;
  report.half_way = folder.checkpoints();
  if (!report.stopped) report.digest = folder.assemble();
  return report;
}

}  // namespace odrpo
