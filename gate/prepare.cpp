// Prepares the cases of a gate that starts programs: finds, calibrates and counts them.
#include "gate/prepare.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "gate/measure/kinds.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/host.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {
namespace {

void draw(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

/// The stored units of work of each case.
std::vector<long long> stored_units(const StoredBaseline& stored, const std::vector<std::string>& cases) {
  std::vector<long long> out;
  for (const auto& name : cases)
    out.push_back(std::find_if(stored.cases.begin(), stored.cases.end(), [&](const StoredCase& c) { return c.name == name; })->repeat);
  return out;
}

std::vector<std::string> cases_of(Side side, ComparedKind kind, const GateCommands& commands, ChildKeeper& keeper) {
  if (kind == ComparedKind::benchmark) return benchmark_names(side, commands, keeper);
  Worker worker(side_names[side], commands.side[side], commands.rules);
  std::vector<std::string> cases = worker.cases();
  worker.close();
  return cases;
}

/// The cases that all measured sides and the stored baseline have.
std::vector<std::string> cases_of_all(ComparedKind kind, const GateOptions& o, const GateCommands& commands, ChildKeeper& keeper,
                                      std::vector<GateLeftOut>& left_out, const StoredBaseline* stored) {
  std::vector<std::string> of[2];
  for (const Side side : commands.programs()) of[side] = cases_of(side, kind, commands, keeper);
  keeper.no_orphans("a worker");
  for_one_alone(commands, of);
  if (stored != nullptr) {
    of[baseline].clear();
    for (const StoredCase& c : stored->cases) of[baseline].push_back(c.name);
  }
  return common_cases(of[baseline], of[candidate], o.cases, left_out);
}

}  // namespace

ProgressLine::ProgressLine(bool quiet) : show_(!quiet && isatty(STDERR_FILENO) == 1 && getenv("CI") == nullptr) {}
ProgressLine::~ProgressLine() {
  if (drawn_) draw("\r\033[K");
}
void ProgressLine::show(const std::string& text) {
  if (!show_) return;
  draw("\r\033[K" + text);
  drawn_ = true;
}

GateProcesses::GateProcesses(const GateOptions& o)
    : signals(stop, true), deadline(o.deadline.value_or(60)), seed(o.seed ? static_cast<std::uint64_t>(*o.seed) : std::random_device{}()) {}

std::string this_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

std::string quoted_word(const std::string& path) {
  std::string out = "'";
  for (const char c : path) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

void check_flags_of_kind(const GateOptions& o, ComparedKind kind) {
  if (kind != ComparedKind::self && !o.suite.empty()) fail(Exit::usage, "--suite has no effect: only --kind self trains a suite");
  if (kind == ComparedKind::process && !o.cases.empty()) fail(Exit::usage, "--cases has no effect: a command is one case");
  if (kind != ComparedKind::self && !o.save.empty() && o.baseline.empty())
    fail(Exit::usage, "--baseline is required: the command that is measured");
}

std::vector<Condition> conditions_of(ComparedKind kind, const GateCommands& commands, bool times, bool load, GateProcesses& processes) {
  std::vector<Condition> out = conditions_here(times, load);
  if (kind != ComparedKind::self) return out;
  const std::vector<Condition> build = conditions_of_build(commands.side[commands.measured[0]].file, processes.rules(), processes.keeper);
  out.insert(out.begin(), build.begin(), build.end());
  return out;
}

std::string host_text() {
  const HostFacts h = host_facts();
  double load = 0;
  const bool known = getloadavg(&load, 1) == 1;
  return fmt::format("{}, {}{}", h.cpu, counted(h.cores, "core"), known ? fmt::format(", load {:.1f}", load) : "");
}

std::vector<std::string> words_of_kind(ComparedKind kind, const GateOptions& o) {
  if (kind != ComparedKind::self) return {};
  if (o.suite.empty()) return {"worker"};
  return {"worker", o.suite};
}

void prepare(Prepared& p, ComparedKind kind, const GateOptions& o, ChildKeeper& keeper, std::uint64_t seed,
             std::vector<GateLeftOut>& left_out, const StoredBaseline* stored) {
  if (kind == ComparedKind::process) {
    p.kind = process_kind(p.commands, keeper, stored != nullptr ? stored->cases[0].name : o.baseline, seed);
    return;
  }
  std::vector<std::string> cases = cases_of_all(kind, o, p.commands, keeper, left_out, stored);
  if (cases.empty()) no_case_left(p, o, stored != nullptr, left_out);
  std::vector<long long> repeat;
  if (stored != nullptr) repeat = stored_units(*stored, cases);
  if (kind == ComparedKind::benchmark) {
    p.kind = benchmark_kind(p.commands, keeper, std::move(cases), std::move(repeat), seed);
  } else {
    p.kind = worker_kind(p.commands, keeper, std::move(cases), std::move(repeat), seed);
    if (kind == ComparedKind::worker) p.kind.clock = "the worker's own";
  }
}

void no_case_left(const Prepared& p, const GateOptions& o, bool against_stored, const std::vector<GateLeftOut>& left_out) {
  std::string why = o.cases.empty() ? "" : " that --cases names";
  if (!left_out.empty()) why += fmt::format("; \"{}\": {}", printable_line(left_out[0].name.substr(0, 80)), left_out[0].why);
  throw Failure(Exit::no_baseline, p.commands.alone() && !against_stored
                                       ? "nothing can be measured: the program has no case" + why
                                       : "nothing can be compared: the two sides have no case in common" + why);
}

Counts count_cases(Prepared& p, ComparedKind kind, CountWish wish, const CountTools& tools, ChildKeeper& keeper, ProgressLine& line) {
  const std::size_t n = p.kind.cases.size();
  if (wish == CountWish::off) return no_counts(tools, n);
  const auto tell = [&](std::size_t i) { line.show(fmt::format("counting: case {} of {}", i + 1, n)); };
  switch (kind) {
    case ComparedKind::process: return count_process(tools, p.commands, keeper);
    case ComparedKind::benchmark: return count_benchmarks(tools, p.commands, keeper, p.kind, tell);
    case ComparedKind::self:
    case ComparedKind::worker: break;
  }
  return count_worker(tools, p.commands, keeper, p.kind, tell);
}

}  // namespace odrpo
