// Runs every rank but the first: trains the runs that rank 0 sends, and commits them to the work folder. Also starts either kind of rank.
#include <optional>
#include <span>

#include "config/spec.hpp"
#include "config/suite.hpp"
#include "kernels/shared/clock.hpp"
#include "kernels/shared/failure.hpp"
#include "train/machines/ranks.hpp"
#include "train/schedule/run_suite.hpp"

namespace odrpo::ranks {
namespace {

using Kind = RankMessage::Kind;

// Adds to a message for rank 0 what this rank has done in this call.
void add_tally(RankMessage& message, const SuiteCall& call, const Work& work) {
  message.trained = call.tally.trained, message.failed = call.tally.failed;
  message.committed = call.tally.committed, message.saved = call.tally.saved;
  message.steps = work.steps_done, message.seconds = work.seconds_seen, message.making = work.worlds_in_making;
  message.world_steps_total = work.world_steps_total, message.world_steps_done = work.world_steps_done;
  message.failures = call.report.failures;
}

class Follower {
 public:
  Follower(const Suite& suite, const SuiteFacts& facts, const RunSettings& settings, const RankLink& link)
      : suite_(suite), facts_(facts), settings_(settings), link_(link) {}
  RunReport run();

 private:
  void send(const RankMessage& message) const { link_.send(0, message.bytes()); }
  /// Waits for rank 0's first message. Returns false when there is nothing to do. Throws the Failure that rank 0 reports.
  bool wait_for_begin() const;
  void turn(WorkerPool& pool, SuiteCall& call, const Workload& workload);

  const Suite& suite_;
  const SuiteFacts& facts_;
  const RunSettings& settings_;
  const RankLink& link_;
  bool asked_ = false, last_ = false;  // asked_: rank 0 was asked for runs. last_: no more runs will come
  double reported_ = 0;
};

bool Follower::wait_for_begin() const {
  RankMessage hello{Kind::hello};
  hello.text = facts_.fingerprint;
  hello.host = link_.host;
  hello.weight = weight_of(settings_);
  send(hello);
  for (;;) {
    const auto message = link_.receive();
    if (!message) {
      pause();
      continue;
    }
    const RankMessage said = RankMessage::read(message->second);
    if (said.kind == Kind::begin) return true;
    if (said.kind != Kind::end) continue;
    if (said.code != 0) throw Failure(static_cast<Exit>(said.code), said.text);
    return false;
  }
}

void Follower::turn(WorkerPool& pool, SuiteCall& call, const Workload& workload) {
  while (const auto message = link_.receive()) {
    const RankMessage said = RankMessage::read(message->second);
    if (said.kind == Kind::stop || said.kind == Kind::end) call.stop() = true;  // a message `end` now means that rank 0 has failed
    if (said.kind != Kind::runs) continue;
    asked_ = false;
    last_ = said.runs.empty();
    if (last_) pool.close();
    else pool.add(make_schedule(suite_.runs, {said.runs.begin(), said.runs.end()}, settings_.engines, {}));
  }
  if (!asked_ && !last_ && pool.waiting() < static_cast<std::size_t>(settings_.jobs)) {
    asked_ = true;
    send({Kind::want});
  }
  if (now_seconds() - reported_ < report_seconds * pace_of(link_)) return;
  reported_ = now_seconds();
  RankMessage report{Kind::report};
  add_tally(report, call, workload.now());
  send(report);
}

RunReport Follower::run() {
  RunReport nothing;
  nothing.total = suite_.runs.size();
  try {
    if (!wait_for_begin()) {
      nothing.complete = true;
      link_.close();
      return nothing;
    }
  } catch (const Failure&) {
    link_.close();
    throw;
  }
  RankMessage end{Kind::done};
  std::optional<Failure> failure;
  RunReport report = nothing;
  try {
    WorkFolder folder(settings_.output, facts_, WorkFolder::Member{}, settings_.system);
    RunSettings quiet = settings_;
    quiet.on_progress = {};
    quiet.commit_seconds *= pace_of(link_);
    SuiteCall call(suite_, quiet, folder);
    Workload workload(suite_.runs, std::vector<bool>(suite_.runs.size(), false), {}, call.worlds(),
                      static_cast<std::size_t>(std::max(settings_.jobs, 1)), settings_.engines.size());
    CallHooks hooks;
    hooks.turn = [&](WorkerPool& pool) { turn(pool, call, workload); };
    hooks.committed = [&](std::span<const RunRecord> runs, const std::string& shard) {
      RankMessage told{Kind::report};
      add_tally(told, call, workload.now());
      told.text = shard;
      for (const RunRecord& run : runs)
        (run.status == RunStatus::ok ? told.runs : told.others).push_back(static_cast<std::uint32_t>(folder.place_of(run)));
      send(told);
    };
    hooks.wait = turn_wait;
    hooks.more = true;
    failure = call.train({}, workload, 0, hooks);
    report = call.report;
    add_tally(end, call, workload.now());
    end.by_engines = report.by_engines;
    end.notes = report.notes;
    report.stopped = call.stop();
    if (report.stopped) end.code = stopped;
  } catch (const Failure& f) {
    failure = f;
  }
  if (failure) {
    end.code = static_cast<int>(failure->code);
    end.text = std::string(failure->what()).substr(0, RankMessage::longest_text);
  }
  send(end);
  link_.close();
  if (failure) throw *failure;
  return report;
}

}  // namespace

RunReport follow(const Suite& suite, const SuiteFacts& facts, const RunSettings& settings, const RankLink& link) {
  return Follower(suite, facts, settings, link).run();
}

}  // namespace odrpo::ranks

// Starts the leader on rank 0, a follower on every other rank.

namespace odrpo {

RunReport run_suite_by_ranks(const Suite& suite, const SuiteFacts& facts, const RunSettings& settings, const RankLink& link) {
  return link.rank == 0 ? ranks::lead(suite, facts, settings, link) : ranks::follow(suite, facts, settings, link);
}

void tell_failure(const RankLink& link, const Failure& failure) {
  RankMessage message{link.rank == 0 ? RankMessage::Kind::end : RankMessage::Kind::done};
  message.code = static_cast<int>(failure.code);
  message.text = std::string(failure.what()).substr(0, RankMessage::longest_text);
  message.host = link.host;
  for (int r = link.rank == 0 ? 1 : 0; r < (link.rank == 0 ? link.size : 1); ++r) link.send(r, message.bytes());
  link.close();
}

}  // namespace odrpo
