// Runs a gate of two programs, or of one program against a stored baseline.
#include "gate/programs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "gate/prepare.hpp"
#include "gate/report/output.hpp"
#include "gate/report/report.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/terminal.hpp"

namespace odrpo {
namespace {

/// For a stored baseline: its sessions differ more than a gate's pairs, so `same` is wider (docs/gate-details.md).
constexpr double same_as_stored = 0.10;
constexpr int looks_against_stored[] = {10, 20};

/// Failure no_baseline where no case was compared, unless the gate fails by the candidate's fault.
void check_compared(const GateReport& r, const Prepared& p, const GateOptions& o) {
  std::vector<GateLeftOut> why;
  for (std::size_t i = 0; i < r.decisions.size(); ++i) {
    if (compared(r, i)) return;
    why.push_back({r.decisions[i].name, r.decisions[i].refusals.text()});
  }
  if (gate_exit(r) != static_cast<int>(Exit::different)) no_case_left(p, o, !o.against.empty(), why);
}

/// --build-baseline: builds the baseline; this program is the candidate where none is named.
void build(const GateOptions& o, GateProcesses& processes, GateReport& report) {
  ProgressLine line(o.quiet);
  const BuiltBaseline built =
      build_baseline(o.build_baseline, processes.stop, processes.keeper, [&](const std::string& text) { line.show(text); });
  report.baseline = quoted_word(built.program);
  if (built.is_head && !o.quiet)
    print_note(fmt::format("--build-baseline: the merge base is the commit that is checked out ({}): only what is not committed can differ",
                           built.commit.substr(0, 12)));
  if (!report.candidate.empty()) return;
  const std::string self = this_program();
  check_equal_builds(built.program, self, processes.stop, processes.keeper);
  report.candidate = quoted_word(self);
}

/// Failure no_baseline, with what differs or is missing, unless the stored baseline has the conditions of now. Measures the load only if
/// one is stored.
void check_conditions(const StoredBaseline& stored, const std::string& path, bool timed, const Prepared& p, ComparedKind kind,
                      GateProcesses& processes) {
  const bool load = std::any_of(stored.conditions.begin(), stored.conditions.end(), [](const Condition& c) { return c.name == "load"; });
  const std::string differ =
      differing_conditions(stored.conditions, conditions_of(kind, p.commands, timed, load, processes), {"stored", "here"}, timed);
  if (differ.empty()) return;
  throw Failure(Exit::no_baseline, fmt::format("nothing can be compared: '{}' was saved under other conditions{}{}", printable_line(path),
                                               differ, timed ? "\n--only-counts needs fewer of them" : ""));
}

/// Keeps only the stored cases that are compared, in their order.
void keep_cases(StoredBaseline& stored, const std::vector<std::string>& names) {
  StoredBaseline kept = stored;
  kept.cases.clear(), kept.counts.clear();
  for (const auto& name : names)
    for (std::size_t i = 0; i < stored.cases.size(); ++i)
      if (stored.cases[i].name == name) kept.cases.push_back(stored.cases[i]), kept.counts.push_back(stored.counts[i]);
  stored = std::move(kept);
}

/// Puts the stored counts beside the candidate's. Leaves out what was counted in another way.
void against_stored(Counts& counts, const StoredBaseline& stored) {
  for (std::size_t i = 0; i < counts.of_case.size(); ++i) {
    std::vector<GateCount> both;
    for (GateCount count : counts.of_case[i]) {
      const auto was = std::find_if(stored.counts[i].begin(), stored.counts[i].end(),
                                    [&](const GateCount& c) { return c.what == count.what && c.by == count.by; });
      if (was == stored.counts[i].end()) {
        std::string& why = count.what == "instructions" ? counts.no_instructions : counts.no_allocations;
        why = fmt::format("none by {} is stored (stored: {})", count.by,
                          count.what == "instructions" ? stored.counted_by : stored.allocations_by);
        continue;
      }
      count.baseline = count.least[baseline] = count.most[baseline] = std::max(was->baseline, 0.0);
      count.exact = count.exact && was->exact;
      both.push_back(count);
    }
    counts.of_case[i] = std::move(both);
  }
}

/// Rules of a comparison with stored times.
void set_rules_of_stored(GateReport& report, const StoredBaseline& stored) {
  std::vector<std::vector<std::vector<double>>> times;
  for (const StoredCase& c : stored.cases) times.push_back(logarithms(c.sessions));
  report.rules.drift = session_drift(times);
  report.rules.looks.assign(std::begin(looks_against_stored), std::end(looks_against_stored));
  report.rules.same = same_as_stored;
  report.stored_sessions = static_cast<int>(stored.sessions.size());
}

std::string stored_text(const std::string& path, const StoredBaseline& stored) {
  return fmt::format("{} ({}{})", path, stored.command, stored.timed() ? ", saved " + stored.sessions.back() : ", without times");
}

/// The kind that is stored; --kind must not say another.
ComparedKind kind_of(const GateOptions& o, const std::optional<StoredBaseline>& stored) {
  if (!o.build_baseline.empty()) return ComparedKind::self;
  if (!stored) return word_or_refuse<ComparedKind>("--kind", compared_kind_words, o.kind);
  if (!o.kind.empty() && o.kind != stored->kind) fail(Exit::usage, "--kind: '{}' was saved with --kind {}", o.against, stored->kind);
  return word_or_refuse<ComparedKind>("--kind", compared_kind_words, stored->kind);
}

GateCommands commands_of(const GateOptions& o, const GateReport& report, ComparedKind kind, const ChildRules& rules) {
  const std::vector<std::string> words = words_of_kind(kind, o);
  if (!o.against.empty()) return gate_commands(candidate, report.candidate, words, rules);
  return gate_commands(report.baseline, report.candidate, words, rules);
}

}  // namespace

int programs_gate(const GateOptions& o) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  GateReport report;
  report.host = host_text();
  const CountWish wish = o.counts.empty() ? CountWish::automatic : word_or_refuse<CountWish>("--counts", count_words, o.counts);
  std::optional<StoredBaseline> stored;
  if (!o.against.empty()) stored = read_stored(o.against);
  report.timed = !o.only_counts && (!stored || stored->timed());
  report.fail_on = read_fail_on(o.fail_on, report.timed);
  const ComparedKind kind = kind_of(o, stored);
  check_flags_of_kind(o, kind);
  check_gate_outputs(o, true);
  GateProcesses processes(o);
  report.seed = processes.seed;
  const CountTools tools = find_count_tools(wish);
  report.kind = word_of(std::span<const Word<ComparedKind>>(compared_kind_words), kind);
  report.baseline = stored ? stored_text(o.against, *stored) : o.baseline;
  report.candidate = o.candidate;
  if (!o.build_baseline.empty()) build(o, processes, report);
  if (stored && report.candidate.empty()) {
    if (kind != ComparedKind::self) fail(Exit::usage, "--candidate is required: the command that must not be slower");
    report.candidate = quoted_word(this_program());
  }

  Prepared p(commands_of(o, report, kind, processes.rules()));
  if (stored) check_conditions(*stored, o.against, report.timed, p, kind, processes);
  GateRun run;
  {
    ProgressLine line(o.quiet);
    line.show("looking at the cases");
    prepare(p, kind, o, processes.keeper, report.seed, report.left_out, stored ? &*stored : nullptr);
    if (stored) keep_cases(*stored, p.kind.cases);
    if (stored && report.timed) set_rules_of_stored(report, *stored);
    if (!o.limit.empty()) report.rules.limit = read_limit(o.limit, report.rules.same);
    Counts counts = count_cases(p, kind, wish, tools, processes.keeper, line);
    if (stored) against_stored(counts, *stored);
    if (!report.timed) {
      run = compare_checksums(p.kind, stored ? std::span<const StoredCase>(stored->cases) : std::span<const StoredCase>());
    } else {
      MeasureHow how{report.rules, o.max_seconds, false};
      if (stored) how.stored = stored->cases;
      how.tell = [&](const GateProgress& at) {
        line.show(fmt::format("block {} of {}, {} of {} cases undecided", at.block + 1, at.next_look, at.undecided, at.cases));
      };
      run = measure(p.kind, how);
    }
    report.decisions = std::move(run.decisions);
    for (std::size_t i = 0; i < p.kind.cases.size(); ++i) {
      if (!compared(report, i)) counts.of_case[i].clear();
      report.measured.push_back({p.kind.repeat[i], run.baseline_ns[i], p.kind.clock, std::move(run.cpu[i]), std::move(counts.of_case[i]),
                                 run.checksums[i].of_baseline(), run.checksums[i].of_candidate(), run.checksums[i].varies()});
    }
    check_compared(report, p, o);
    say_counted_by(report, counts.no_instructions, counts.no_allocations);
    if (!report.timed) judge_counts(report);
  }
  report.out_of_time = run.out_of_time;
  report.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  put(o.json ? gate_json(report) : gate_text(report));
  write_gate_outputs(o, gate_findings(report),
                     {[&](const std::string& figure) { return gate_markdown(report, figure); }, gate_svg(report)});
  return gate_exit(report);
}

}  // namespace odrpo
