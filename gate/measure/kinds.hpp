// Declares the three kinds of programs that a gate measures: benchmark, process, worker.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "gate/measure/child.hpp"
#include "gate/measure/counts.hpp"
#include "gate/measure/measure.hpp"
#include "gate/report/report.hpp"

namespace odrpo {

// The kind benchmark: two programs made with Google Benchmark.

/// The result of a benchmark's repetition, from the program's JSON.
struct BenchmarkResult : CaseAnswer {  ///< CPU time, or real time where the benchmark asks for that; the counter "checksum"
  std::string name;                    ///< as --benchmark_list_tests has it
  long long iterations = 0;
  std::optional<double> allocations;  ///< of an iteration, where the program has a memory manager
};
/// Parses a program's stdout, with text before and after its JSON. Numbers that JSON cannot write, such as NaN, are no values. Failure
/// runs_failed, with `who`, for other text; with line and column where the JSON is broken.
std::vector<BenchmarkResult> parse_benchmarks(const std::string& who, const std::string& text);

/// A regular expression (POSIX extended and ECMAScript) for exactly these names.
std::string benchmark_filter(const std::vector<std::string>& names);

/// The benchmarks of a program. Failure runs_failed; no_baseline where it has none.
std::vector<std::string> benchmark_names(Side side, const GateCommands& commands, ChildKeeper& keeper);

/// Measures each case once on every program. A repetition has `repeat` iterations if given. Else it takes the first program 0.7 ms: by a
/// number of iterations in release 1.8 and later, else by time (0). Failure no_baseline where `repeat` is given and this library takes no
/// number of iterations.
GateKind benchmark_kind(const GateCommands& commands, ChildKeeper& keeper, std::vector<std::string> cases, std::vector<long long> repeat,
                        std::uint64_t seed);

/// Instructions and allocations of benchmarks that take a number of iterations; allocations where the program reports them. Cases that are
/// refused meanwhile go to `kind`.
Counts count_benchmarks(const CountTools& tools, const GateCommands& commands, ChildKeeper& keeper, GateKind& kind,
                        const std::function<void(std::size_t)>& tell);

// The kind process: whole commands, by wall clock and CPU time.

/// One run of a command: its clocks, and what it wrote.
struct ProcessRun {
  double wall_ns = 0, cpu_ns = 0;  ///< CPU: user and system, of it and the children that it waited for
  std::string checksum;            ///< SHA-256 of its stdout
};
/// Runs it with empty stdin. Failure runs_failed where it ends badly, exceeds the deadline or leaves processes behind.
ProcessRun run_process(const char* who, const Command& command, const ChildRules& rules, ChildKeeper& keeper,
                       const ProcessStart& start = {});

/// Its one case has the name of the baseline's command. Each command runs once unmeasured, so that its files are in the cache.
GateKind process_kind(const GateCommands& commands, ChildKeeper& keeper, const std::string& name, std::uint64_t seed);

/// Counts of whole runs.
Counts count_process(const CountTools& tools, const GateCommands& commands, ChildKeeper& keeper);

// The gate's side of a worker: a program that answers JSON lines about its cases (docs/gate.md).

/// Members throw Failure runs_failed for invalid answers, and as Process's do.
class Worker {
 public:
  Worker(std::string who, const Command& command, const ChildRules& rules, const ProcessStart& start = {})
      : process_(std::move(who), command, rules, start) {}
  /// Its cases: at least one, each once.
  std::vector<std::string> cases();
  CaseAnswer ask(const std::string& name, long long repeat);
  /// Ends it, as it should end: Process::close().
  void close() { process_.close(); }

 private:
  [[noreturn]] void refuse(const std::string& doing, const std::string& what, const std::string& line);
  Process process_;
};

/// The cases that both workers have and `globs` match (empty = all), in the baseline's order. Cases of one alone go to `left_out`.
std::vector<std::string> common_cases(const std::vector<std::string>& of_baseline, const std::vector<std::string>& of_candidate,
                                      const std::vector<std::string>& globs, std::vector<GateLeftOut>& left_out);

/// The kinds self and worker, ready to measure. Asks every program once about each case. A repetition has `repeat` units of work if given,
/// else as many as take the first program 0.4 to 1 ms, at least 1.
GateKind worker_kind(const GateCommands& commands, ChildKeeper& keeper, std::vector<std::string> cases, std::vector<long long> repeat,
                     std::uint64_t seed);

/// Counts of each case, of a repetition of repeat[i] units. `tell` is called before each case. Cases that are refused meanwhile go to
/// `kind`.
Counts count_worker(const CountTools& tools, const GateCommands& commands, ChildKeeper& keeper, GateKind& kind,
                    const std::function<void(std::size_t)>& tell);

}  // namespace odrpo
