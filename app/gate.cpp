// `odrpo-bench gate`: is a candidate slower than its baseline, or does it compute something else?
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "app/build_facts.hpp"
#include "app/command.hpp"
#include "app/gate/benchmark.hpp"
#include "app/gate/build_baseline.hpp"
#include "app/gate/counts.hpp"
#include "app/gate/flags.hpp"
#include "app/gate/limits.hpp"
#include "app/gate/output.hpp"
#include "app/gate/process.hpp"
#include "app/gate/report.hpp"
#include "app/gate/report_words.hpp"
#include "app/gate/science.hpp"
#include "app/gate/self_test.hpp"
#include "app/gate/worker.hpp"
#include "app/printable.hpp"
#include "app/signals.hpp"
#include "app/usage.hpp"
#include "kernels/failure.hpp"

namespace odrpo::app {
namespace {

/// Progress of a gate on stderr: one line that is redrawn, on a terminal only.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet) : show_(!quiet && isatty(STDERR_FILENO) == 1 && getenv("CI") == nullptr) {}
  ~ProgressLine() {
    if (drawn_) write("\r\033[K");
  }
  void show(const std::string& text) {
    if (!show_) return;
    write("\r\033[K" + text);
    drawn_ = true;
  }

 private:
  static void write(const std::string& text) {
    std::fputs(text.c_str(), stderr);
    std::fflush(stderr);
  }
  bool show_, drawn_ = false;
};

std::string host_text() {
  const HostFacts h = host_facts();
  double load = 0;
  const bool known = getloadavg(&load, 1) == 1;
  return fmt::format("{}, {} core{}{}", h.cpu, h.cores, h.cores == 1 ? "" : "s", known ? fmt::format(", load {:.1f}", load) : "");
}

/// The cases of one gate, ready to be counted and measured; not copied, since the kind refers to the commands.
struct Prepared {
  GateCommands commands;
  GateKind kind;
};

void prepare(Prepared& p, ComparedKind kind, const GateOptions& o, ChildKeeper& keeper, std::uint64_t seed, GateReport& report) {
  if (kind == ComparedKind::process) {
    p.kind = process_kind(p.commands, keeper, o.baseline, seed);
    return;
  }
  std::vector<std::string> of[2];
  for (const Side side : {baseline, candidate}) {
    if (kind == ComparedKind::benchmark) {
      of[side] = benchmark_names(side, p.commands, keeper);
      continue;
    }
    Worker worker(side_names[side], p.commands.side[side], p.commands.rules);
    of[side] = worker.cases();
    worker.close();
  }
  keeper.no_orphans("a worker");
  std::vector<std::string> cases = common_cases(of[baseline], of[candidate], o.cases, report.left_out);
  if (kind == ComparedKind::benchmark) {
    p.kind = benchmark_kind(p.commands, keeper, std::move(cases), seed, report.left_out);
  } else {
    std::vector<long long> repeat = calibrate(p.commands, keeper, cases, report.left_out);
    p.kind = worker_kind(p.commands, keeper, std::move(cases), std::move(repeat), seed);
    if (kind == ComparedKind::worker) p.kind.clock = "the worker's own";
  }
  if (p.kind.cases.empty()) {
    std::string why = o.cases.empty() ? "" : " that --cases names";
    if (!report.left_out.empty())
      why += fmt::format("; \"{}\": {}", printable_line(report.left_out[0].name.substr(0, 80)), report.left_out[0].why);
    throw Failure(Exit::no_baseline, "nothing can be compared: the two sides have no case in common" + why);
  }
}

/// Checksums alone: a block of every case, whose times nobody looks at.
void compare_checksums(const Prepared& p, GateRun& run) {
  GateKind kind = p.kind;
  std::vector<std::size_t> all(kind.cases.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  std::vector<CaseBlock> blocks(all.size());
  std::vector<Checksums*> checksums;
  for (auto& sums : run.checksums) checksums.push_back(&sums);
  kind.block(all, blocks, checksums);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (run.checksums[i].differs()) run.decisions[i].differs = true, run.decisions[i].verdict = GateVerdict::different;
}

/// A path as a word of a command line.
std::string quoted_word(const std::string& path) {
  std::string out = "'";
  for (const char c : path) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// --build-baseline: makes the baseline, and this program the candidate where none is named.
void build(const GateOptions& o, const std::atomic<bool>& stop, ChildKeeper& keeper, GateReport& report) {
  ProgressLine line(o.quiet);
  const BuiltBaseline built = build_baseline(o.build_baseline, stop, keeper, [&](const std::string& text) { line.show(text); });
  report.baseline = quoted_word(built.program);
  if (!report.candidate.empty()) return;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  check_equal_builds(built.program, self, stop, keeper);
  report.candidate = quoted_word(self);
}

int run_gate(const GateOptions& o) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  check_gate_flags(o);
  if (o.science) return science_gate(o);
  if (!o.files.empty()) return limits_gate(o);
  GateReport report;
  if (!o.limit.empty()) report.rules.limit = read_limit(o.limit);
  report.fail_on = read_fail_on(o.fail_on);
  report.seed = o.seed ? static_cast<std::uint64_t>(*o.seed) : std::random_device{}();
  report.host = host_text();
  const CountWish wish = o.counts.empty() ? CountWish::automatic : word_or_refuse<CountWish>("--counts", count_words, o.counts);
  std::atomic<bool> stop{false};
  const StopOnSignal signals(stop, true);
  ChildKeeper keeper;
  const ChildRules rules{o.deadline, &stop};
  if (o.self_test) {
    ProgressLine line(o.quiet);
    const SelfTest test =
        run_self_test({o.trials, report.seed, rules, report.rules}, keeper, [&](const std::string& text) { line.show(text); });
    put(o.json ? self_test_json(test, report.host) : self_test_text(test, report.host));
    return static_cast<int>(Exit::ok);
  }
  const bool builds = !o.build_baseline.empty();
  const ComparedKind kind = builds ? ComparedKind::self : word_or_refuse<ComparedKind>("--kind", compared_kind_words, o.kind);
  if (kind != ComparedKind::self && !o.suite.empty()) throw Failure(Exit::usage, "--suite has no effect: only --kind self trains a suite");
  if (kind == ComparedKind::process && !o.cases.empty()) throw Failure(Exit::usage, "--cases has no effect: a command is one case");
  check_gate_outputs(o, true);
  const CountTools tools = find_count_tools(wish);
  report.kind = word_of(std::span<const Word<ComparedKind>>(compared_kind_words), kind);
  report.baseline = o.baseline;
  report.candidate = o.candidate;
  if (builds) build(o, stop, keeper, report);
  report.timed = !o.only_counts;

  std::vector<std::string> more;
  if (kind == ComparedKind::self) more = {"worker"};
  if (kind == ComparedKind::self && !o.suite.empty()) more.push_back(o.suite);
  Prepared p{gate_commands(report.baseline, report.candidate, more, rules), {}};
  GateRun run;
  {
    ProgressLine line(o.quiet);
    line.show("looking at the cases");
    prepare(p, kind, o, keeper, report.seed, report);
    const auto tell = [&](std::size_t i) { line.show(fmt::format("counting: case {} of {}", i + 1, p.kind.cases.size())); };
    Counts counts = no_counts(tools, p.kind.cases.size());
    if (wish != CountWish::off)
      counts = kind == ComparedKind::process     ? count_process(tools, p.commands, keeper)
               : kind == ComparedKind::benchmark ? count_benchmarks(tools, p.commands, keeper, p.kind, tell)
                                                 : count_worker(tools, p.commands, keeper, p.kind, tell);
    if (o.only_counts) {
      run.decisions.resize(p.kind.cases.size());
      run.checksums.resize(p.kind.cases.size());
      run.cpu.resize(p.kind.cases.size());
      run.baseline_ns.resize(p.kind.cases.size());
      for (std::size_t i = 0; i < p.kind.cases.size(); ++i) run.decisions[i].name = p.kind.cases[i];
      compare_checksums(p, run);
    } else {
      MeasureHow how{report.rules, o.max_seconds, false};
      how.tell = [&](const GateProgress& at) {
        line.show(fmt::format("block {} of {}, {} of {} cases undecided", at.block + 1, at.next_look, at.undecided, at.cases));
      };
      run = measure(p.kind, how);
    }
    for (std::size_t i = 0; i < p.kind.cases.size(); ++i)
      report.measured.push_back({p.kind.repeat[i], run.baseline_ns[i], p.kind.clock, std::move(run.cpu[i]), std::move(counts.of_case[i]),
                                 run.checksums[i].of_baseline(), run.checksums[i].of_candidate(), run.checksums[i].varies()});
    say_counted_by(report, counts.no_instructions, counts.no_allocations);
    if (o.only_counts && !compares_anything(report))
      throw Failure(Exit::no_baseline, fmt::format("nothing can be compared: instructions counted by {}; allocations by {}; no checksums",
                                                   report.counted_by, report.allocations_by));
  }
  report.decisions = std::move(run.decisions);
  report.out_of_time = run.out_of_time;
  report.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  put(o.json ? gate_json(report) : gate_text(report));
  write_gate_outputs(o, gate_findings(report),
                     {[&](const std::string& figure) { return gate_markdown(report, figure); }, gate_svg(report)});
  return gate_exit(report);
}

}  // namespace

int gate(const GateOptions& o) {
  try {
    return run_gate(o);
  } catch (const Failure& failure) {  // which may quote what programs have said
    throw Failure(failure.code, without_ci_commands(failure.what()));
  }
}

}  // namespace odrpo::app
