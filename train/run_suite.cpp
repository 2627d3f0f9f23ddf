// run_suite: a worker pool that trains, and the one thread that commits.
#include "train/run_suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "kernels/failure.hpp"
#include "results/digest.hpp"
#include "spec/canonical.hpp"
#include "train/worker_pool.hpp"

namespace odrpo {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t failures_kept = 10, notes_kept = 100;
constexpr int most_assemblies = 3;

// The checkpoints of the work folder, for any worker; and the first notes for the user.
class CheckpointFolder {
 public:
  CheckpointFolder(const WorkFolder& folder, const RunSettings& settings) : folder_(folder) {
    store_.build = [this, make = settings.build] {
      std::call_once(named_, [&] { build_ = make(); });
      return build_;
    };
    store_.seconds = settings.checkpoint_seconds;
    store_.load = [this](CheckpointKind kind, const std::string& name) { return load(kind, name); };
    store_.save = [this](CheckpointKind kind, const std::string& name, std::string_view bytes) { return save(kind, name, bytes); };
    store_.report = [this](const std::string& text) { report(text); };
  }
  CheckpointFolder(const CheckpointFolder&) = delete;
  CheckpointFolder& operator=(const CheckpointFolder&) = delete;
  const CheckpointStore& store() const { return store_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::string load(CheckpointKind kind, const std::string& name) {
    CheckpointBytes found = folder_.load_checkpoint(kind, name);
    if (found.damaged)
      report(kind == CheckpointKind::run ? "ignored the damaged checkpoint of " + name : "ignored damaged weights of supervised steps");
    return std::move(found.bytes);
  }
  // a run whose checkpoint cannot be stored is trained all the same
  bool save(CheckpointKind kind, const std::string& name, std::string_view bytes) try {
    folder_.save_checkpoint(kind, name, bytes);
    return true;
  } catch (const Failure& failure) {
    if (!failed_.exchange(true)) report(std::string("long runs are not kept: ") + failure.what());
    return false;
  }
  void report(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (notes_.size() < notes_kept) notes_.push_back(text);
  }

  const WorkFolder& folder_;
  CheckpointStore store_;
  std::once_flag named_;
  std::string build_;
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::vector<std::string> notes_;
};

// Why training or committing ended early, with what is left behind and how to go on.
Failure with_the_rest(const Failure& why, const RunReport& report, const RunSettings& settings) {
  return {why.code, fmt::format("{}; {}{}", why.what(), saved_text(report, settings), why.code == Exit::device ? ", with --device cpu too" : "")};
}

// SHA-256 of the version and, for each run, its id and its canonical text.
std::string fingerprint(const RunGrid& runs, const std::string& program_version) {
  Sha256 hash;
  hash.add("odrpo-bench " + program_version + '\n');
  for (std::size_t c = 0; c < runs.combinations(); ++c) {
    const Combination all = runs.combination(c);
    RunSpec run = runs[all.first];
    const std::string settings = canonical_settings(run) + '\n';
    for (std::size_t i = all.first; i < all.first + all.runs; ++i) {
      if (i > all.first) run = runs[i];
      hash.add(run.id + '\n' + canonical_seed(run) + settings);
    }
  }
  return hash.hex();
}

}  // namespace

SuiteFacts suite_facts(const Suite& suite, const std::string& program_version) {
  SuiteFacts facts;
  facts.name = suite.name;
  facts.axis_names = suite.axis_names;
  facts.runs = suite.runs.size();
  facts.run_id = [runs = suite.runs](std::size_t i) { return runs.id(i); };
  facts.fingerprint = fingerprint(suite.runs, program_version);
  return facts;
}

namespace {

// A call of run_suite while it goes on.
class Call {
 public:
  Call(const Suite& suite, const RunSettings& settings, WorkFolder& folder)
      : suite_(suite), settings_(settings), folder_(folder), stop_(settings.stop ? *settings.stop : never_), worlds_(suite.runs) {
    report.total = suite.runs.size();
    schedule_ = settings.schedule ? *settings.schedule : make_schedule(suite.runs, worlds_.order(), settings.engines, {});
  }
  // trains the runs that are not committed; false when it had to stop before the last one
  bool train_missing();
  RunReport report;

 private:
  void count_finished(const std::vector<RunRecord>& waiting, std::size_t from);
  void commit_as_they_come(WorkerPool& pool, const Workload& workload);
  void report_progress(const Workload& workload);

  const Suite& suite_;
  const RunSettings& settings_;
  WorkFolder& folder_;
  std::atomic<bool> never_{false};
  std::atomic<bool>& stop_;
  const RunWorlds worlds_;
  Schedule schedule_;  // of all runs
  Tally tally_;
  Clock::time_point began_;
};

void Call::count_finished(const std::vector<RunRecord>& waiting, std::size_t from) {
  for (std::size_t i = from; i < waiting.size(); ++i) {
    ++tally_.trained;
    if (waiting[i].status != RunStatus::failed) continue;
    ++tally_.failed;
    if (report.failures.size() < failures_kept) report.failures.push_back(waiting[i].id + ": " + waiting[i].error);
  }
}

void Call::report_progress(const Workload& workload) {
  if (!settings_.on_progress) return;
  tally_.elapsed = std::chrono::duration<double>(Clock::now() - began_).count();
  tally_.work = workload.now();
  settings_.on_progress(tally_);
}

// commits what the pool has finished, at least every second or 64 MiB, until the pool is done
void Call::commit_as_they_come(WorkerPool& pool, const Workload& workload) {
  std::vector<RunRecord> waiting;
  std::size_t bytes = 0;
  auto last_commit = Clock::now();
  double period_seconds = std::min(0.05, settings_.commit_seconds);  // short at first, so that even a short-lived call gets somewhere
  for (bool working = true; working;) {
    const auto now = Clock::now();
    const auto period = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(period_seconds));
    auto until = now + std::chrono::milliseconds(100);
    if (!waiting.empty()) until = std::min(until, std::max(now, last_commit + period));
    const std::size_t counted = waiting.size();
    working = pool.queue().take(waiting, bytes, until);
    count_finished(waiting, counted);
    const bool due = Clock::now() - last_commit >= period || bytes >= settings_.commit_bytes || !working || stop_;
    if (due && !waiting.empty()) {
      folder_.commit(waiting);
      tally_.committed += waiting.size();
      tally_.saved += static_cast<std::size_t>(
          std::count_if(waiting.begin(), waiting.end(), [](const RunRecord& r) { return r.status != RunStatus::failed; }));
      waiting.clear();
      bytes = 0;
      last_commit = Clock::now();
      period_seconds = std::min(2 * period_seconds, settings_.commit_seconds);
    }
    report_progress(workload);
  }
}

bool Call::train_missing() {
  std::vector<bool> done(report.total, false);  // asked again in a second round: what was damaged is not done
  for (const std::size_t i : folder_.finished()) done[i] = true;
  const auto finished = static_cast<std::size_t>(std::count(done.begin(), done.end(), true));
  tally_ = {};
  tally_.total = report.total;
  tally_.resumed = report.resumed = tally_.saved = finished;
  report.failures.clear();
  Schedule rest = without_done(schedule_, done);
  Workload workload(suite_.runs, done, rest, worlds_, static_cast<std::size_t>(std::max(settings_.jobs, 1)));
  began_ = Clock::now();
  report_progress(workload);
  std::optional<Failure> failure;
  CheckpointFolder checkpoints(folder_, settings_);
  if (finished < report.total) {
    WorkerPool pool({suite_, settings_.engines, checkpoints.store(), stop_, worlds_, workload, settings_.jobs, settings_.queue_bytes},
                    std::move(rest));
    try {
      commit_as_they_come(pool, workload);
      failure = pool.failure();
    } catch (const Failure& f) {  // e.g. the disk is full: what is being trained cannot be saved
      failure = f;
      stop_ = true;
    }
    report.by_engines = pool.by_engines();
  }
  tally_.over = true;
  report_progress(workload);
  report.notes.insert(report.notes.end(), checkpoints.notes().begin(), checkpoints.notes().end());
  report.ran = tally_.trained;
  report.failed = tally_.failed;
  report.stopped = tally_.trained < report.total - finished;
  report.half_way = folder_.checkpoints();
  report.saved = tally_.saved;
  if (failure) throw with_the_rest(*failure, report, settings_);
  return !report.stopped;
}

}  // namespace

std::string saved_text(const RunReport& report, const RunSettings& settings) {
  const auto holds_something = [](const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored) && !std::filesystem::is_empty(path, ignored);
  };
  std::string where, how = "the same command continues";
  for (const std::string& path : {settings.output, settings.output + ".work"}) {
    if (settings.force && path == settings.output) continue;  // what it holds is to be replaced
    if (holds_something(path)) where += (where.empty() ? " in " : " and ") + printable_text(path);
  }
  if (where.empty() || report.saved + report.half_way == 0)
    return fmt::format("none of {} is saved; the same command begins again", runs_text(report.total));
  if (settings.force)  // which would begin again
    how = "the same command without --force continues" +
          (holds_something(settings.output) ? ", once " + printable_text(settings.output) + " is moved away" : "");
  const std::string half_way = report.half_way > 0 ? fmt::format(", {} more half-way", report.half_way) : "";
  return fmt::format("{} of {} {} saved{}{}; {}", report.saved, runs_text(report.total), report.total == 1 ? "is" : "are", where, half_way, how);
}

RunReport run_suite(const Suite& suite, const SuiteFacts& facts, const RunSettings& settings) {
  WorkFolder folder(settings.output, facts, settings.force, settings.system);
  Call call(suite, settings, folder);
  RunReport& report = call.report;
  if (folder.complete()) {
    report.complete = true;
    report.resumed = report.total;
    report.notes = folder.notes();
    return report;
  }
  folder.stop_when(settings.stop);
  for (int times = 0; report.digest.empty() && call.train_missing(); ++times) {
    if (times == most_assemblies)
      throw Failure(Exit::bad_input, "finished runs are damaged on the disk again and again: " + folder.notes().back());
    try {
      report.digest = folder.assemble();  // empty when a committed run was damaged since: it is missing now
    } catch (const Failure& failure) {
      if (failure.code != Exit::stopped) throw;
      report.stopped = true;  // all runs are saved, the output is not made
      break;
    }
  }
  report.notes.insert(report.notes.begin(), folder.notes().begin(), folder.notes().end());
  return report;
}

}  // namespace odrpo
