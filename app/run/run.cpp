// Trains a suite into a result file, and prints its table: `odrpo-bench run`.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "app/command.hpp"
#include "app/run/device_choice.hpp"
#include "app/run/mpi.hpp"
#include "app/run/output_name.hpp"
#include "app/run/progress.hpp"
#include "app/run/provenance.hpp"
#include "app/run/shard.hpp"
#include "app/run/shipped_suites.hpp"
#include "app/table/query.hpp"
#include "kernels/shared/json.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/host.hpp"
#include "kernels/system/signals.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"
#include "results/export/json_text.hpp"
#include "results/store/store.hpp"
#include "results/table/table.hpp"
#include "train/machines/ranks.hpp"
#include "train/schedule/cost.hpp"
#include "train/schedule/run_suite.hpp"

namespace odrpo::app {
namespace {

// The result file to write. Failure `io` if it is the suite itself, or a file that is neither empty nor HDF5.
std::string output_of(const std::string& path, const std::string& suite) {
  std::error_code ignored;
  if (std::filesystem::equivalent(path, suite, ignored))
    throw Failure(Exit::io, "'" + printable_line(path) + "' is the suite itself; choose another -o");
  return output_target(path);
}

// The table that the suite asks for; nothing when every run has failed.
std::optional<TableModel> table_of(const Suite& suite, const ResultFile& file) {
  if (file.failed == file.runs) return std::nullopt;
  return make_suite_table(file, suite.table);
}

// The summary of the call, with the table in it, as one JSON object.
std::string summary_json(const RunReport& report, const std::string& suite, const std::string& part, const std::string& output,
                         const std::string& digest, const ChosenDevices& where, double seconds, const std::optional<TableModel>& table) {
  Json device = {{"engines", Json::array()}, {"ran", report.by_engines}};
  for (const BatchEngine& e : where.engines) device["engines"].push_back(e.name);
  const Json out = {{"suite", suite},
                                      {"part", part.empty() ? Json() : Json(part)},
                                      {"output", output},
                                      {"digest", digest},
                                      {"total", report.total},
                                      {"ran", report.ran},
                                      {"resumed", report.resumed},
                                      {"failed", report.failed},
                                      {"already_complete", report.complete},
                                      {"seconds", seconds},
                                      {"device", device},
                                      {"table", table ? Json::parse(table_json(*table)) : Json()}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

// Prints the closing lines on stderr: the file written, its digest, and the failed runs.
void tell_end(const RunReport& report, const std::string& output, const std::string& digest, double seconds) {
  for (const auto& found : report.notes) print_note("note: " + found);
  if (report.complete)
    print_note(fmt::format("already complete: {} holds all {}, nothing was trained; digest {}", output, runs_text(report.total), digest));
  else print_note(fmt::format("wrote {}: {} in {}; digest {}", output, runs_text(report.total), seconds_text(seconds), digest));
  for (const auto& failure : report.failures) print_note("failed: " + failure);
  if (report.failed > report.failures.size())
    print_note(fmt::format("failed: {}{} of {}", report.failures.empty() ? "" : "in all ", report.failed, runs_text(report.total)));
  if (report.half_way > 0) print_note(fmt::format("{} of the failed runs can go on: {}.work holds them half-way", report.half_way, output));
}

// The Failure for a call that ran out of memory. Its message says how many runs are saved, by the last progress report (`tally`).
Failure starved(const Tally& tally, const RunSettings& settings) {
  const char* less = settings.jobs > 1 ? "; --jobs 1 or a smaller suite needs less" : "; a smaller suite needs less";
  if (tally.total == 0) return {Exit::limits, std::string("out of memory before anything was trained") + less};
  RunReport report;
  report.total = tally.total;
  report.saved = tally.saved;
  return {Exit::limits, "out of memory: " + saved_text(report, settings) + less};
}

// Number of the CUDA device for a rank; empty if none can be used. Ranks of a machine take its devices in turn, and share them if there are
// more ranks than devices.
std::vector<int> device_of_rank(int local_rank) {
  std::vector<int> usable;
  const Devices found = find_devices(false);
  for (std::size_t i = 0; i < found.all.size(); ++i)
    if (found.all[i].trouble.empty()) usable.push_back(static_cast<int>(i));
  if (usable.empty()) return {};
  return {usable[static_cast<std::size_t>(local_rank) % usable.size()]};
}

// Trains the suite as the only process (`job` is null), or as one rank of an MPI job. Only rank 0 prints.
int run_as(RunOptions o, const std::vector<std::string>& argv, const MpiJob* job) {
  DeviceWish wish = device_wish(o.device);
  const bool first = job == nullptr || job->link().rank == 0;
  if (!first) o.quiet = true;
  if (job != nullptr && wish.look && wish.numbers.empty()) wish.numbers = device_of_rank(job->local_rank());

  std::atomic<bool> stop{false};
  const StopOnSignal signals(stop, o.quiet);

  // read the suite, choose the part and the devices, and check limits
  const ChosenPart chosen = o.suite.shard.empty() ? ChosenPart() : choose_part(o.suite.shard);
  Suite suite = load_named_suite(o.suite.path, o.suite.set, o.suite.only);
  const bool is_part = chosen.part.count > 1;
  const std::string whole = is_part ? suite_facts(suite, build_facts().version).fingerprint : "";
  if (is_part) take_part(suite, chosen.part);
  RunSettings settings;
  settings.output = output_of(o.output.empty() ? default_output(suite.name, o.suite.set, o.name, chosen.part) : o.output, o.suite.path);
  settings.jobs = jobs_or_cores(o.jobs);
  settings.force = o.force;
  settings.checkpoint_seconds = o.checkpoint.value_or(settings.checkpoint_seconds);
  settings.build = build_name;
  settings.columns = [&](const ResultFile& head) {
    return is_part || head.failed == head.runs ? std::vector<std::string>() : stored_columns(head, suite.table);
  };
  check_limits(suite, settings.jobs);
  const ChosenDevices where = choose_devices(suite, wish);
  settings.engines = where.engines;
  settings.schedule = where.schedule;
  TrainedBy by = this_machine(settings.jobs, where);
  if (std::string programs = start_programs(suite, o.quiet); !programs.empty()) by.emplace_back(programs_text, std::move(programs));
  SuiteFacts facts = facts_of(suite, o.suite, by, argv);
  if (is_part) add_part(facts, chosen.part, whole);
  if (!o.quiet) {
    for (const auto& text : suite.notes) print_note("note: " + text);
    for (const auto& text : where.words) print_note("note: " + text);
    if (!chosen.note.empty()) print_note("note: " + chosen.note);
  }

  // train
  settings.stop = &stop;
  const ProgressStyle style = progress_style(o.quiet);
  ProgressBar bar(style);
  bool told = o.quiet;
  Tally last;
  settings.on_progress = [&](const Tally& tally) {
    last = tally;
    if (!told && tally.resumed > 0) print_note(fmt::format("resumed: {} of {} were already done", tally.resumed, runs_text(tally.total)));
    told = true;
    const bool line = style.show && style.bar && !tally.over;
    if (line) StopOnSignal::line_begun(true);  // a message of a signal must not continue the line of the bar
    bar.show(tally);
    if (!line) StopOnSignal::line_begun(false);
  };
  const auto start = std::chrono::steady_clock::now();
  RunReport report;
  try {
    report = job ? run_suite_by_ranks(suite, facts, settings, job->link()) : run_suite(suite, facts, settings);
  } catch (const std::bad_alloc&) {
    throw starved(last, settings);
  }
  if (!first) return 0;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (report.stopped) {
    if (!o.quiet)
      for (const auto& found : report.notes) print_note("note: " + found);
    print_note("stopped: " + saved_text(report, settings));
    return static_cast<int>(Exit::stopped);
  }

  // report; a part has no table, which would show only some of the suite's runs
  ReadLimits generous;  // the user's own file may take longer to read than a stranger's
  generous.seconds = 600;
  generous.memory_bytes = 1'000'000'000;
  ResultFile file = report.complete ? read_results(settings.output, settings.columns, generous) : std::move(report.table);
  if (!is_part && file.failed < file.runs) add_win_rates(file, settings.output, suite.table.value, true, generous);
  report.failed = file.failed;  // all failed runs in the file, also if an earlier call trained them
  const auto table = is_part ? std::nullopt : table_of(suite, file);
  if (o.json) put(summary_json(report, suite.name, is_part ? chosen.part.text() : "", settings.output, file.digest, where, seconds, table));
  else if (table) put(table_text(*table, Legend::brief, stdout_width()));
  std::fflush(stdout);  // the table comes before the lines on stderr
  for (const BatchEngine& e : settings.engines)
    if (!o.quiet && !report.complete && e.seconds)
      print_note(fmt::format("note: {}: {} in its kernels", e.name, seconds_text(e.seconds())));
  if (!o.quiet) tell_end(report, settings.output, file.digest, seconds);
  if (!o.quiet && !o.json && table) print_next_steps({settings.output});
  if (!o.quiet && is_part)
    print_note(fmt::format("this is part {}: `odrpo-bench merge PART.h5 ... -o {}.h5` joins all {}", chosen.part.text(), suite.name,
                           chosen.part.count));
  return static_cast<int>(report.failed > 0 ? Exit::runs_failed : Exit::ok);
}

}  // namespace

int run(const RunOptions& o, const std::vector<std::string>& argv) {
  if (o.dry_run) {
    device_wish(o.device);  // checks the device flags, as without --dry-run
    return is_first_rank() ? check({o.suite, o.device, o.jobs, o.json, o.quiet}) : 0;
  }
  if (launched_ranks() == 1 || !o.suite.shard.empty()) return run_as(o, argv, nullptr);
  hold_stop_signals();  // a stop signal waits until MPI has started, which takes a while
  MpiJob job;
  const bool first = job.link().rank == 0;
  std::optional<Failure> failure;
  int code = 0;
  try {
    code = run_as(o, argv, &job);
  } catch (const Failure& f) {
    failure = f;
  } catch (const std::bad_alloc&) {
    failure.emplace(Exit::limits, "out of memory");
  } catch (const std::exception& e) {
    failure.emplace(Exit::internal, std::string("internal error: ") + e.what());
  }
  if (failure) {
    tell_failure(job.link(), *failure);  // has no effect once the link is closed
    code = static_cast<int>(failure->code);
    if (first) print_error(failure->what());  // only rank 0 prints the reason
  }
  if (!first) return 0;  // rank 0 gives the job's exit code; a launcher would kill it if another rank's code were not 0
  job.leave(code);
  return code;
}

}  // namespace odrpo::app
