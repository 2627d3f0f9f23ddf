// `odrpo-bench gate`: is a candidate slower than its baseline, or does it compute something else?
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "app/build_facts.hpp"
#include "app/command.hpp"
#include "app/gate/benchmark.hpp"
#include "app/gate/counts.hpp"
#include "app/gate/process.hpp"
#include "app/gate/report.hpp"
#include "app/gate/self_test.hpp"
#include "app/gate/worker.hpp"
#include "app/output_file.hpp"
#include "app/printable.hpp"
#include "app/signals.hpp"
#include "app/usage.hpp"
#include "kernels/failure.hpp"
#include "results/suggest.hpp"

namespace odrpo::app {
namespace {

enum class Kind { self, benchmark, worker, process };
constexpr Word<Kind> kind_words[] = {
    {Kind::self, "self", "two builds of odrpo-bench"},
    {Kind::benchmark, "benchmark", "two programs made with Google Benchmark"},
    {Kind::worker, "worker", "programs that answer JSON lines"},
    {Kind::process, "process", "whole commands"},
};

template <class E>
E word_or_refuse(const char* flag, std::span<const Word<E>> table, const std::string& word) {
  if (const auto found = find_word(table, word)) return *found;
  std::vector<std::string> words;
  for (const auto& w : table) words.emplace_back(w.word);
  throw Failure(Exit::usage, fmt::format("{}: unknown word \"{}\"{}", flag, printable_line(word), did_you_mean(word, words)));
}

/// "1%", "0.5 %" or "0.01".
double read_limit(const std::string& text) {
  char* end = nullptr;
  double limit = std::strtod(text.c_str(), &end);
  std::string unit(end);
  std::erase(unit, ' ');
  if (unit == "%") limit /= 100;
  if (end == text.c_str() || (!unit.empty() && unit != "%") || !(limit >= 0))
    throw Failure(Exit::usage, fmt::format("--limit: \"{}\" is no share such as 1% or 0.01", printable_line(text)));
  if (limit >= GateRules{}.same)
    throw Failure(Exit::usage,
                  fmt::format("--limit: \"{}\" is not below 3%, within which a case counts as the same", printable_line(text)));
  return limit;
}

GateFailOn read_fail_on(const std::vector<std::string>& given) {
  if (given.empty()) return {};
  std::vector<std::string> words;
  for (const auto& list : given)
    for (std::size_t at = 0; at <= list.size();) {
      const std::size_t end = std::min(list.find(',', at), list.size());
      words.push_back(list.substr(at, end - at));
      at = end + 1;
    }
  GateFailOn out{{}, false};
  for (const auto& word : words) {
    const auto verdict = find_word(std::span<const Word<GateVerdict>>(gate_verdict_words), word);
    if (word == "counts") out.counts = true;
    else if (verdict && *verdict != GateVerdict::same) out.verdicts.push_back(*verdict);
    else if (word != "nothing" || words.size() > 1)
      throw Failure(Exit::usage,
                    fmt::format("--fail-on: unknown word \"{}\"{}", printable_line(word),
                                did_you_mean(word, {"slower", "different", "faster", "counts", "void", "inconclusive", "nothing"})));
  }
  return out;
}

/// Where the figure beside a summary goes; empty: nowhere, since GitHub shows no file beside a job's summary.
std::string figure_path(const std::string& markdown) {
  const char* summary = getenv("GITHUB_STEP_SUMMARY");
  if (summary != nullptr && markdown == summary) return "";
  return std::filesystem::path(markdown).replace_extension(".svg").string();
}

void check_flags(const GateOptions& o) {
  const auto refuse = [](const std::string& text) { throw Failure(Exit::usage, text); };
  if (o.self_test) {
    if (!o.baseline.empty() || !o.candidate.empty() || !o.kind.empty())
      refuse("--self-test compares this program with itself: --baseline, --candidate and --kind have no effect");
    if (!o.junit.empty() || !o.markdown.empty()) refuse("--self-test is printed: --junit and --markdown have no effect");
    if (!o.suite.empty() || !o.cases.empty() || !o.counts.empty() || o.only_counts || o.max_seconds > 0 || !o.fail_on.empty())
      refuse("--self-test has cases of its own: --suite, --cases, --counts, --only-counts, --max-seconds and --fail-on have no effect");
    return;
  }
  if (o.trials > 0) refuse("--trials has no effect without --self-test");
  if (o.baseline.empty()) refuse("--baseline is required: the command that is compared with");
  if (o.candidate.empty()) refuse("--candidate is required: the command that must not be slower");
  if (o.kind.empty()) refuse("--kind is required: self, benchmark, worker or process");
  if (o.only_counts && o.counts == "off") refuse("--only-counts has nothing to compare with --counts off");
  const auto same = [](const std::string& a, const std::string& b) {
    const auto place = [](const std::string& path) { return std::filesystem::absolute(path).lexically_normal(); };
    return !a.empty() && !b.empty() && place(a) == place(b);
  };
  if (same(o.junit, o.markdown)) refuse("--junit and --markdown name one file");
  if (o.markdown.empty()) return;
  const std::string figure = figure_path(o.markdown);
  if (same(figure, o.markdown) || same(figure, o.junit))
    refuse(fmt::format("--markdown writes its figure to '{}', which --{} names too", printable_line(figure),
                       same(figure, o.junit) ? "junit" : "markdown"));
}

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

void prepare(Prepared& p, Kind kind, const GateOptions& o, ChildKeeper& keeper, std::uint64_t seed, GateReport& report) {
  if (kind == Kind::process) {
    p.kind = process_kind(p.commands, keeper, o.baseline, seed);
    return;
  }
  std::vector<std::string> of[2];
  for (const Side side : {baseline, candidate}) {
    if (kind == Kind::benchmark) {
      of[side] = benchmark_names(side, p.commands, keeper);
      continue;
    }
    Worker worker(side_names[side], p.commands.side[side], p.commands.rules);
    of[side] = worker.cases();
    worker.close();
  }
  keeper.no_orphans("a worker");
  std::vector<std::string> cases = common_cases(of[baseline], of[candidate], o.cases, report.left_out);
  if (kind == Kind::benchmark) {
    p.kind = benchmark_kind(p.commands, keeper, std::move(cases), seed, report.left_out);
  } else {
    std::vector<long long> repeat = calibrate(p.commands, keeper, cases, report.left_out);
    p.kind = worker_kind(p.commands, keeper, std::move(cases), std::move(repeat), seed);
    if (kind == Kind::worker) p.kind.clock = "the worker's own";
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

void write_reports(const GateOptions& o, const GateReport& report) {
  if (!o.junit.empty()) write_output(o.junit, gate_junit(report));
  if (!o.markdown.empty()) {
    const std::string figure = figure_path(o.markdown);
    if (!figure.empty()) write_output(figure, gate_svg(report));
    std::string before;
    if (figure.empty()) {  // a job's summary, to which other commands of the step have written
      std::ifstream file(o.markdown, std::ios::binary);
      before.assign(std::istreambuf_iterator<char>(file), {});
    }
    write_output(o.markdown, before + gate_markdown(report, std::filesystem::path(figure).filename().string()));
  }
}

}  // namespace

int gate(const GateOptions& o) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  check_flags(o);
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
  const Kind kind = word_or_refuse<Kind>("--kind", kind_words, o.kind);
  if (kind != Kind::self && !o.suite.empty()) throw Failure(Exit::usage, "--suite has no effect: only --kind self trains a suite");
  if (kind == Kind::process && !o.cases.empty()) throw Failure(Exit::usage, "--cases has no effect: a command is one case");
  for (const auto& path : {o.junit, o.markdown})
    if (!path.empty()) check_output(path, "");
  if (!o.markdown.empty() && !figure_path(o.markdown).empty()) check_output(figure_path(o.markdown), o.markdown);
  const CountTools tools = find_count_tools(wish);
  report.kind = o.kind;
  report.baseline = o.baseline;
  report.candidate = o.candidate;
  report.counted_by = tools.instructions_by;
  report.allocations_by = tools.allocations_by;
  report.timed = !o.only_counts;

  std::vector<std::string> more;
  if (kind == Kind::self) more = {"worker"};
  if (kind == Kind::self && !o.suite.empty()) more.push_back(o.suite);
  Prepared p{gate_commands(o.baseline, o.candidate, more, rules), {}};
  GateRun run;
  {
    ProgressLine line(o.quiet);
    line.show("looking at the cases");
    prepare(p, kind, o, keeper, report.seed, report);
    const auto tell = [&](std::size_t i) { line.show(fmt::format("counting: case {} of {}", i + 1, p.kind.cases.size())); };
    std::vector<std::vector<GateCount>> counts(p.kind.cases.size());
    if (wish != CountWish::off)
      counts = kind == Kind::process     ? count_process(tools, p.commands, keeper)
               : kind == Kind::benchmark ? count_benchmarks(tools, p.commands, keeper, p.kind, tell)
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
      report.measured.push_back({p.kind.repeat[i], run.baseline_ns[i], p.kind.clock, std::move(run.cpu[i]), std::move(counts[i]),
                                 run.checksums[i].of_baseline(), run.checksums[i].of_candidate(), run.checksums[i].varies()});
    const bool by_time = kind == Kind::benchmark && p.kind.repeat[0] == 0;
    correct_counted_by(report, by_time                       ? "this release of Google Benchmark takes no number of iterations"
                               : tools.callgrind_seconds > 0 ? "not within a minute, which is what --counts auto gives to it"
                                                             : "the programs could not be counted");
    if (o.only_counts && !compares_anything(report))
      throw Failure(Exit::no_baseline, fmt::format("nothing can be compared: instructions counted by {}; allocations by {}; no checksums",
                                                   report.counted_by, report.allocations_by));
  }
  report.decisions = std::move(run.decisions);
  report.out_of_time = run.out_of_time;
  report.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  put(o.json ? gate_json(report) : gate_text(report));
  write_reports(o, report);
  const char* github = getenv("GITHUB_ACTIONS");
  if (github != nullptr && std::string_view(github) == "true") std::fputs(gate_annotations(report).c_str(), stderr);
  return gate_exit(report);
}

}  // namespace odrpo::app
