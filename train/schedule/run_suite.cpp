// Runs a suite in one process. Implements SuiteCall, which ranks use too, and keeps checkpoints in the work folder.
#include "train/schedule/run_suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "config/plan/run_grid.hpp"
#include "config/spec.hpp"
#include "config/suite.hpp"
#include "config/write/canonical.hpp"
#include "kernels/shared/failure.hpp"
#include "results/store/digest.hpp"

namespace odrpo {

RunReport run_suite(const Suite& suite, const SuiteFacts& facts, const RunSettings& settings) {
  WorkFolder folder(settings.output, facts, settings.force, settings.system, settings.stop);
  SuiteCall call(suite, settings, folder);
  RunReport& report = call.report;
  if (folder.complete()) {
    report.complete = true;
    report.resumed = report.total;
    report.notes = folder.notes();
    return report;
  }
  if (train_missing(call, suite, settings)) assemble_or_train_again(call, suite, settings, folder);
  report.notes.insert(report.notes.begin(), folder.notes().begin(), folder.notes().end());
  return report;
}

namespace {

// SHA-256 of the version and, for each run, its id and its canonical text; also of which rollouts are kept, since finished runs cannot add them.
std::string fingerprint(const RunGrid& runs, const std::string& program_version) {
  Sha256 hash;
  hash.add("odrpo-bench " + program_version + '\n');
  for (std::size_t c = 0; c < runs.combinations(); ++c) {
    const Combination all = runs.combination(c);
    RunSpec run = runs[all.first];
    std::string settings = canonical_settings(run) + '\n';
    if (run.record.rollouts > 0) settings += fmt::format("record.rollouts = {}\n", run.record.rollouts);
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

// Implements SuiteCall, the committing thread of a call.

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t failures_kept = 10;
constexpr int most_assemblies = 3;

}  // namespace

SuiteCall::SuiteCall(const Suite& suite, const RunSettings& settings, WorkFolder& folder)
    : suite_(suite), settings_(settings), folder_(folder), stop_(settings.stop ? *settings.stop : never_), worlds_(suite.runs) {
  report.total = suite.runs.size();
  schedule_ = settings.schedule ? *settings.schedule : make_schedule(suite.runs, worlds_.order(), settings.engines, {});
  began_ = Clock::now();
}

std::vector<bool> SuiteCall::done() const {
  std::vector<bool> done(report.total, false);
  for (const std::size_t i : folder_.finished()) done[i] = true;
  return done;
}

void SuiteCall::count_finished(const std::vector<RunRecord>& waiting, std::size_t from) {
  for (std::size_t i = from; i < waiting.size(); ++i) {
    ++tally.trained;
    if (waiting[i].status != RunStatus::failed) continue;
    ++tally.failed;
    if (report.failures.size() < failures_kept) report.failures.push_back(waiting[i].id + ": " + waiting[i].error);
  }
}

void SuiteCall::show(const Workload& workload, const CallHooks& hooks) {
  if (!settings_.on_progress) return;
  Tally shown = tally;
  shown.elapsed = std::chrono::duration<double>(Clock::now() - began_).count();
  shown.work = workload.now();
  if (shown.work.steps_trained == 0 && settings_.engines.empty()) before_steps_ = shown.elapsed;
  shown.stepping = shown.elapsed - before_steps_;
  if (hooks.add_others) hooks.add_others(shown);
  settings_.on_progress(shown);
}

// Commits what the pool has finished, at least every commit_seconds or commit_bytes, until the pool is done.
void SuiteCall::commit_as_they_come(WorkerPool& pool, const Workload& workload, const CallHooks& hooks) {
  std::vector<RunRecord> waiting;
  std::size_t bytes = 0;
  auto last_commit = Clock::now();
  double period_seconds = std::min(0.05, settings_.commit_seconds);  // short at first: even a call that is soon killed commits something
  for (bool working = true; working;) {
    const auto now = Clock::now();
    const auto period = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(period_seconds));
    auto until = now + hooks.wait;
    if (!waiting.empty()) until = std::min(until, std::max(now, last_commit + period));
    const std::size_t counted = waiting.size();
    working = pool.queue().take(waiting, bytes, until);
    count_finished(waiting, counted);
    const bool due = Clock::now() - last_commit >= period || bytes >= settings_.commit_bytes || !working || stop_;
    if (due && !waiting.empty()) {
      // a suite that ends before its first commit is due needs no shard: its output is made at once
      const bool soon = !hooks.committed && !stop_ && tally.committed == 0 && Clock::now() - last_commit < period &&
                        tally.resumed + waiting.size() == tally.total;
      std::string shard;
      if (soon) {
        folder_.hold(waiting);
        held_ = waiting;
      } else {
        shard = folder_.commit(waiting);
      }
      tally.committed += waiting.size();
      tally.saved += static_cast<std::size_t>(
          std::count_if(waiting.begin(), waiting.end(), [](const RunRecord& r) { return r.status != RunStatus::failed; }));
      if (hooks.committed) hooks.committed(waiting, shard);
      waiting.clear();
      bytes = 0;
      last_commit = Clock::now();
      period_seconds = std::min(2 * period_seconds, settings_.commit_seconds);
    }
    if (hooks.turn) hooks.turn(pool);
    if (stop_) pool.close();  // ends the waiting for more runs
    show(workload, hooks);
  }
}

std::optional<Failure> SuiteCall::train(Schedule rest, Workload& workload, std::size_t saved, const CallHooks& hooks) {
  tally = {};
  tally.total = report.total;
  tally.resumed = report.resumed = tally.saved = saved;
  report.failures.clear();
  began_ = Clock::now();
  show(workload, hooks);
  std::optional<Failure> failure;
  CheckpointFolder checkpoints(folder_, settings_);
  if (hooks.more || !rest.workers.empty() || !rest.batches.empty()) {
    WorkerPool pool({suite_, settings_.engines, checkpoints.store(), stop_, worlds_, workload, settings_.jobs, settings_.queue_bytes, hooks.more},
                    std::move(rest));
    try {
      commit_as_they_come(pool, workload, hooks);
      failure = pool.failure();
    } catch (const Failure& f) {  // e.g. the disk is full: what is being trained cannot be saved
      failure = f;
      stop_ = true;
    }
    report.by_engines = pool.by_engines();
  }
  report.notes.insert(report.notes.end(), checkpoints.notes().begin(), checkpoints.notes().end());
  report.ran = tally.trained;
  report.failed = tally.failed;
  report.half_way = folder_.checkpoints();
  report.starts = folder_.starts();
  report.saved = tally.saved;
  return failure;
}

void SuiteCall::commit_held() {
  if (held_.empty()) return;
  try {
    folder_.commit(held_);
  } catch (const Failure& failure) {
    report.saved = tally.resumed;
    throw with_saved_runs(failure, report, settings_);
  }
}

bool train_missing(SuiteCall& call, const Suite& suite, const RunSettings& settings) {
  const std::vector<bool> done = call.done();  // read again in a second round: a damaged run counts as not done
  const auto finished = static_cast<std::size_t>(std::count(done.begin(), done.end(), true));
  Schedule rest = without_done(call.schedule(), done);
  Workload workload(suite.runs, done, rest, call.worlds(), static_cast<std::size_t>(std::max(settings.jobs, 1)),
                    settings.engines.size());
  const std::optional<Failure> failure = call.train(std::move(rest), workload, finished);
  call.tally.over = true;
  call.show(workload);
  call.report.stopped = call.tally.trained < call.report.total - finished;
  if (failure) throw with_saved_runs(*failure, call.report, settings);
  return !call.report.stopped;
}

void assemble_or_train_again(SuiteCall& call, const Suite& suite, const RunSettings& settings, WorkFolder& folder) {
  RunReport& report = call.report;
  for (int times = 0; report.digest.empty(); ++times) {
    if (times == most_assemblies)
      throw Failure(Exit::bad_input, "finished runs are damaged on the disk again and again: " + folder.notes().back());
    try {
      report.digest = folder.assemble(settings.columns, &report.table);  // empty when a committed run turned out damaged: it must be trained again
    } catch (const Failure& failure) {
      call.commit_held();
      if (failure.code != Exit::stopped) throw;
      report.stopped = true;  // all runs are saved, the output is not made
      return;
    } catch (const std::bad_alloc&) {
      call.commit_held();
      throw;
    }
    if (report.digest.empty() && !train_missing(call, suite, settings)) return;
  }
}

// Implements CheckpointFolder.

namespace {
constexpr std::size_t notes_kept = 100;
}

CheckpointFolder::CheckpointFolder(const WorkFolder& folder, const RunSettings& settings) : folder_(folder) {
  store_.build = [this, make = settings.build] {
    std::call_once(named_, [&] { build_ = make(); });
    return build_;
  };
  store_.seconds = settings.checkpoint_seconds;
  store_.load = [this](CheckpointKind kind, const std::string& name) { return load(kind, name); };
  store_.save = [this](CheckpointKind kind, const std::string& name, std::string_view bytes) { return save(kind, name, bytes); };
  store_.report = [this](const std::string& text) { report(text); };
}

std::string CheckpointFolder::load(CheckpointKind kind, const std::string& name) {
  CheckpointBytes found = folder_.load_checkpoint(kind, name);
  if (found.damaged)
    report(kind == CheckpointKind::run ? "ignored the damaged checkpoint of " + name : "ignored damaged weights of supervised steps");
  return std::move(found.bytes);
}

// If its checkpoint cannot be stored, a run goes on training.
bool CheckpointFolder::save(CheckpointKind kind, const std::string& name, std::string_view bytes) try {
  folder_.save_checkpoint(kind, name, bytes);
  return true;
} catch (const Failure& failure) {
  if (!failed_.exchange(true)) report(std::string("long runs are not kept: ") + failure.what());
  return false;
}

void CheckpointFolder::report(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (notes_.size() < notes_kept) notes_.push_back(text);
}

}  // namespace odrpo
