// run_suite in one process: what is left to train, then the output of all.
#include "train/run_suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "kernels/failure.hpp"
#include "kernels/utf8.hpp"
#include "spec/text.hpp"
#include "train/suite_call.hpp"

namespace odrpo {
namespace {

constexpr int most_assemblies = 3;

// trains the runs that are not committed; false when it had to stop before the last one
bool train_missing(SuiteCall& call, const Suite& suite, const RunSettings& settings) {
  const std::vector<bool> done = call.done();  // asked again in a second round: what was damaged is not done
  const auto finished = static_cast<std::size_t>(std::count(done.begin(), done.end(), true));
  Schedule rest = without_done(call.schedule(), done);
  Workload workload(suite.runs, done, rest, call.worlds(), static_cast<std::size_t>(std::max(settings.jobs, 1)));
  const std::optional<Failure> failure = call.train(std::move(rest), workload, finished);
  call.tally.over = true;
  call.show(workload);
  call.report.stopped = call.tally.trained < call.report.total - finished;
  if (failure) throw with_the_rest(*failure, call.report, settings);
  return !call.report.stopped;
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

// Why training or committing ended early, with what is left behind and how to go on.
Failure with_the_rest(const Failure& why, const RunReport& report, const RunSettings& settings) {
  return {why.code, fmt::format("{}; {}{}", why.what(), saved_text(report, settings), why.code == Exit::device ? ", with --device cpu too" : "")};
}

void assemble_or_train_again(SuiteCall& call, const Suite& suite, const RunSettings& settings, WorkFolder& folder) {
  RunReport& report = call.report;
  folder.stop_when(settings.stop);
  for (int times = 0; report.digest.empty(); ++times) {
    if (times == most_assemblies)
      throw Failure(Exit::bad_input, "finished runs are damaged on the disk again and again: " + folder.notes().back());
    try {
      report.digest = folder.assemble();  // empty when a committed run was damaged since: it is missing now
    } catch (const Failure& failure) {
      if (failure.code != Exit::stopped) throw;
      report.stopped = true;  // all runs are saved, the output is not made
      return;
    }
    if (report.digest.empty() && !train_missing(call, suite, settings)) return;
  }
}

RunReport run_suite(const Suite& suite, const SuiteFacts& facts, const RunSettings& settings) {
  WorkFolder folder(settings.output, facts, settings.force, settings.system);
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

}  // namespace odrpo
