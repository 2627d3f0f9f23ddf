// Runs rank 0: hands out runs, collects what other ranks commit, trains too, and makes the output.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

#include "config/spec.hpp"
#include "config/suite.hpp"
#include "kernels/shared/clock.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"
#include "train/machines/ranks.hpp"
#include "train/machines/suite_part.hpp"
#include "train/schedule/run_suite.hpp"

namespace odrpo::ranks {
namespace {

using Kind = RankMessage::Kind;
constexpr std::size_t failures_kept = 10, notes_kept = 100;
constexpr double goodbye_seconds = 3;  // longest wait for other ranks after a stop

class Leader {
 public:
  Leader(const Suite& suite, const SuiteFacts& facts, const RunSettings& settings, const RankLink& link)
      : suite_(suite), facts_(facts), settings_(settings), link_(link), others_(static_cast<std::size_t>(link.size)) {}
  RunReport run();

 private:
  struct Other {
    bool here = false, waits = false, done = false, silent = false;
    std::string host;
    double weight = 0, heard = 0;  // heard: time of its last message
    std::set<std::uint32_t> out;   // runs that it was given and has not committed
    RankMessage last;              // its latest report
  };

  void send(int to, RankMessage message) const { link_.send(to, message.bytes()); }
  void send_all(const RankMessage& message) const {
    for (int r = 1; r < link_.size; ++r)
      if (!other(r).done) send(r, message);
  }
  Other& other(int rank) { return others_[static_cast<std::size_t>(rank)]; }
  const Other& other(int rank) const { return others_[static_cast<std::size_t>(rank)]; }
  bool all_done() const {
    for (int r = 1; r < link_.size; ++r)
      if (!other(r).done && !other(r).silent) return false;
    return true;
  }
  /// True if other ranks have runs that they have not committed. Runs of a rank that has ended or is silent were taken back.
  bool others_have_runs() const {
    return std::any_of(others_.begin(), others_.end(), [](const Other& who) { return !who.out.empty(); });
  }
  [[noreturn]] void refuse(const Failure& failure);
  void greet();
  void listen(WorkFolder& folder, SuiteCall& call, HandOut& rest);
  void hear(int from, const RankMessage& message, WorkFolder& folder, SuiteCall& call, HandOut& rest);
  void answer(HandOut& rest);
  void look_for_silent(HandOut& rest);
  void add_others(Tally& tally) const;
  void turn(WorkerPool& pool, WorkFolder& folder, SuiteCall& call, HandOut& rest);
  void say_goodbye(WorkFolder& folder, SuiteCall& call, HandOut& rest, const Workload& workload, const CallHooks& hooks);
  void finish_report(const WorkFolder& folder, std::size_t finished, SuiteCall& call) const;

  const Suite& suite_;
  const SuiteFacts& facts_;
  const RunSettings& settings_;
  const RankLink& link_;
  std::vector<Other> others_;  // by rank; index 0 is this rank, and unused
  double all_ = 0;              // sum of the weights of all ranks
  bool told_stop_ = false;
  std::optional<Failure> failure_;  // failure of another rank
  std::set<std::uint32_t> failed_;  // failed runs of all ranks
};

void Leader::refuse(const Failure& failure) {
  RankMessage end{Kind::end};
  end.code = static_cast<int>(failure.code);
  end.text = std::string(failure.what()).substr(0, RankMessage::longest_text);
  send_all(end);
  link_.close();
  throw failure;
}

// Waits for the hello of every rank, and refuses ranks that read another suite.
void Leader::greet() {
  all_ = weight_of(settings_);
  std::size_t here = 1;
  while (here < others_.size()) {
    if (settings_.stop && *settings_.stop) refuse({Exit::stopped, "stopped before anything was trained"});
    const auto message = link_.receive();
    if (!message) {
      pause();
      continue;
    }
    const RankMessage said = RankMessage::read(message->second);
    Other& from = other(message->first);
    const std::string who = fmt::format("rank {} on {}", message->first, printable_text(said.host));
    if (said.kind == Kind::done) {
      from.done = true;
      refuse({static_cast<Exit>(said.code), who + ": " + said.text});
    }
    if (said.text != facts_.fingerprint)
      refuse({Exit::io, fmt::format("{} reads another suite, or files that it names differ there", who)});
    from.here = true, from.host = said.host, from.weight = said.weight, from.heard = now_seconds();
    all_ += said.weight;
    ++here;
  }
}

void Leader::hear(int from, const RankMessage& message, WorkFolder& folder, SuiteCall& call, HandOut& rest) {
  Other& who = other(from);
  who.heard = now_seconds();
  switch (message.kind) {
    case Kind::want: who.waits = true; break;
    case Kind::report:
    case Kind::done:
      if (!message.text.empty() && message.kind == Kind::report) {
        folder.adopt(message.text, message.runs);
        for (const std::uint32_t run : message.runs) who.out.erase(run);
        for (const std::uint32_t run : message.others) who.out.erase(run), failed_.insert(run);
      }
      who.last = message;
      if (message.kind == Kind::report) break;
      who.done = true;
      for (const std::string& note : message.notes)
        if (call.report.notes.size() < notes_kept) call.report.notes.push_back(note);
      if (message.code != 0 && message.code != stopped && !failure_)
        failure_.emplace(static_cast<Exit>(message.code), fmt::format("rank {} on {}: {}", from, printable_text(who.host), message.text));
      if (message.code != 0) call.stop() = true;
      else if (!who.out.empty() && !call.stop()) rest.give_back({who.out.begin(), who.out.end()});
      who.out.clear();
      break;
    default: break;
  }
}

void Leader::listen(WorkFolder& folder, SuiteCall& call, HandOut& rest) {
  while (const auto message = link_.receive()) hear(message->first, RankMessage::read(message->second), folder, call, rest);
}

// Gives runs to ranks that ask for them. Says that no more will come only when no rank has runs that it could still lose.
void Leader::answer(HandOut& rest) {
  const bool outstanding = others_have_runs();
  for (int r = 1; r < link_.size; ++r) {
    Other& who = other(r);
    if (!who.waits || who.done || who.silent) continue;
    if (rest.empty() && outstanding && !told_stop_) continue;  // a rank may still fall silent, and its runs return
    RankMessage reply{Kind::runs};
    reply.runs = rest.take(who.weight, all_);
    who.out.insert(reply.runs.begin(), reply.runs.end());
    who.waits = false;
    send(r, std::move(reply));
  }
}

void Leader::look_for_silent(HandOut& rest) {
  const double now = now_seconds();
  for (int r = 1; r < link_.size; ++r) {
    Other& who = other(r);
    who.silent = !who.done && now - who.heard > link_.silence;
    if (!who.silent || who.out.empty()) continue;
    rest.give_back({who.out.begin(), who.out.end()});
    who.out.clear();  // if the rank commits them all the same, each run counts once
  }
}

void Leader::add_others(Tally& tally) const {
  for (const Other& who : others_) {
    const RankMessage& m = who.last;
    tally.trained += m.trained, tally.failed += m.failed, tally.committed += m.committed, tally.saved += m.saved;
    tally.work.steps_done += m.steps;
    tally.work.seconds_seen += m.seconds;
    tally.work.seconds_left = std::max(0.0, tally.work.seconds_left - m.seconds);
    tally.work.worlds_in_making += m.making;
    tally.work.world_steps_total += m.world_steps_total, tally.work.world_steps_done += m.world_steps_done;
  }
  tally.trained = std::min(tally.trained, tally.total - tally.resumed);  // a rank that fell silent and came back may train runs twice
}

void Leader::turn(WorkerPool& pool, WorkFolder& folder, SuiteCall& call, HandOut& rest) {
  listen(folder, call, rest);
  look_for_silent(rest);
  if (call.stop()) {
    if (!told_stop_) send_all({Kind::stop});
    told_stop_ = true;
    return;
  }
  if (pool.waiting() < static_cast<std::size_t>(settings_.jobs) && !rest.empty()) {
    std::vector<std::uint32_t> mine = rest.take(weight_of(settings_), all_);
    pool.add(make_schedule(suite_.runs, {mine.begin(), mine.end()}, settings_.engines, {}));
  }
  answer(rest);
  if (rest.empty() && !others_have_runs()) pool.close();
}

// Waits until every rank has ended; after a stop at most goodbye_seconds.
void Leader::say_goodbye(WorkFolder& folder, SuiteCall& call, HandOut& rest, const Workload& workload, const CallHooks& hooks) {
  const double began = now_seconds();
  if (call.stop() && !told_stop_) {
    send_all({Kind::stop});
    told_stop_ = true;
  }
  while (!all_done() && (!call.stop() || now_seconds() - began < goodbye_seconds)) {
    listen(folder, call, rest);
    look_for_silent(rest);
    answer(rest);
    call.show(workload, hooks);
    pause();
  }
}

// Fills the report by counting the saved runs: a rank that fell silent and came back may have trained a run that another rank trained too.
void Leader::finish_report(const WorkFolder& folder, std::size_t finished, SuiteCall& call) const {
  RunReport& report = call.report;
  std::vector<bool> good(report.total, false);
  for (const std::size_t run : folder.finished()) good[run] = true;
  report.saved = static_cast<std::size_t>(std::count(good.begin(), good.end(), true));
  report.failed = static_cast<std::size_t>(std::count_if(failed_.begin(), failed_.end(), [&](std::uint32_t run) { return !good[run]; }));
  report.ran = report.saved - finished + report.failed;
  report.stopped = report.saved + report.failed < report.total;
  for (const Other& who : others_) {
    report.by_engines += who.last.by_engines;
    for (const std::string& failure : who.last.failures)
      if (report.failures.size() < failures_kept) report.failures.push_back(failure);
  }
}

RunReport Leader::run() {
  greet();
  std::optional<WorkFolder> opened;
  try {
    opened.emplace(settings_.output, facts_, settings_.force, settings_.system, settings_.stop);
    opened->sign();
  } catch (const Failure& failure) {
    refuse(failure);
  }
  WorkFolder& folder = *opened;
  SuiteCall call(suite_, settings_, folder);
  RunReport& report = call.report;
  if (folder.complete()) {
    send_all({Kind::end});
    link_.close();
    report.complete = true;
    report.resumed = report.total;
    report.notes = folder.notes();
    return report;
  }
  const std::vector<bool> done = call.done();
  const auto finished = static_cast<std::size_t>(std::count(done.begin(), done.end(), true));
  HandOut rest(suite_.runs, call.worlds(), call.worlds().order(), done);
  Schedule all = without_done(call.schedule(), done);
  Workload workload(suite_.runs, done, all, call.worlds(), static_cast<std::size_t>(std::max(settings_.jobs, 1)),
                    settings_.engines.size());
  send_all({Kind::begin});
  CallHooks hooks;
  hooks.turn = [&](WorkerPool& pool) { turn(pool, folder, call, rest); };
  hooks.committed = [&](std::span<const RunRecord> runs, const std::string&) {
    for (const RunRecord& run : runs)
      if (run.status != RunStatus::ok) failed_.insert(static_cast<std::uint32_t>(folder.place_of(run)));
  };
  hooks.add_others = [&](Tally& tally) { add_others(tally); };
  hooks.wait = turn_wait;
  hooks.more = true;
  std::optional<Failure> failure = call.train({}, workload, finished, hooks);
  say_goodbye(folder, call, rest, workload, hooks);
  call.tally.over = true;
  call.show(workload, hooks);
  finish_report(folder, finished, call);
  report.half_way = folder.checkpoints();
  report.starts = folder.starts();
  if (!failure) failure = failure_;
  if (failure) {
    link_.close();
    throw with_saved_runs(*failure, report, settings_);
  }
  // The other ranks wait for this one without using a core: MPI may end the job when one of them leaves.
  if (!report.stopped) assemble_or_train_again(call, suite_, settings_, folder);
  link_.close();
  report.notes.insert(report.notes.begin(), folder.notes().begin(), folder.notes().end());
  return report;
}

}  // namespace

RunReport lead(const Suite& suite, const SuiteFacts& facts, const RunSettings& settings, const RankLink& link) {
  return Leader(suite, facts, settings, link).run();
}

}  // namespace odrpo::ranks
