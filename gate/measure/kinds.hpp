// The three kinds of programs that a gate measures: benchmark, process, worker.
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

/// What a benchmark's repetition said in the program's JSON.
struct BenchmarkResult {
  std::string name;  ///< as --benchmark_list_tests has it
  double ns = 0;     ///< of an iteration: CPU time, or real time where the benchmark asks for that
  long long iterations = 0;
  std::string checksum;               ///< of a counter "checksum"; empty: none
  std::string error;                  ///< empty: none
  std::optional<double> allocations;  ///< of an iteration, where the program has a memory manager
};
/// From the program's stdout; what stands before its first "{" is left out. Failure runs_failed, with `who`, for other text.
std::vector<BenchmarkResult> parse_benchmarks(const std::string& who, const std::string& text);

/// A regular expression (POSIX extended and ECMAScript) for exactly these names.
std::string benchmark_filter(const std::vector<std::string>& names);

/// The benchmarks of a program. Failure runs_failed; no_baseline where it has none.
std::vector<std::string> benchmark_names(Side side, const GateCommands& commands, ChildKeeper& keeper);

/// Looks at each case once on the baseline, or on the program that is measured alone. Cases that fail there go to `left_out`. A repetition has
/// `repeat` iterations where they are given, else as many as take it 0.7 ms where the library can be told so (release 1.8 and later), else
/// (0) as many as take 0.7 ms. Failure no_baseline where iterations are given and this library does not take them.
GateKind benchmark_kind(const GateCommands& commands, ChildKeeper& keeper, std::vector<std::string> cases, std::vector<long long> repeat,
                        std::uint64_t seed, std::vector<GateLeftOut>& left_out);

/// Instructions and allocations of benchmarks that take a number of iterations; allocations where the program reports them.
Counts count_benchmarks(const CountTools& tools, const GateCommands& commands, ChildKeeper& keeper, const GateKind& kind,
                        const std::function<void(std::size_t)>& tell);

// The kind process: whole commands, by wall clock and CPU time.

/// One run of a command: its clocks, and what it wrote.
struct ProcessRun {
  double wall_ns = 0, cpu_ns = 0;  ///< CPU: user and system, of it and the children that it waited for
  std::string checksum;            ///< SHA-256 of its stdout
};
/// Runs it with empty stdin. Failure runs_failed where it ends badly, takes longer than the deadline or leaves processes behind.
ProcessRun run_process(const char* who, const Command& command, const ChildRules& rules, ChildKeeper& keeper,
                       const ProcessStart& start = {});

/// Its one case has the name of the baseline's command. The commands run once each, unmeasured, so that files are read before.
GateKind process_kind(const GateCommands& commands, ChildKeeper& keeper, const std::string& name, std::uint64_t seed);

/// Counts of whole runs.
Counts count_process(const CountTools& tools, const GateCommands& commands, ChildKeeper& keeper);

// The gate's side of a worker: a program that answers JSON lines about its cases (docs/gate.md).

struct WorkerAnswer {
  double ns = 0;         ///< above 0
  std::string checksum;  ///< as JSON; empty: none
  std::string error;     ///< what the worker says instead; empty: none
};

/// Members throw Failure runs_failed for answers that are none, and as Process's do.
class Worker {
 public:
  Worker(std::string who, const Command& command, const ChildRules& rules, const ProcessStart& start = {})
      : process_(std::move(who), command, rules, start) {}
  /// Its cases: at least one, each once.
  std::vector<std::string> cases();
  WorkerAnswer ask(const std::string& name, long long repeat);
  /// The time and the checksum; Failure runs_failed where the worker answers with an error.
  WorkerAnswer measure(const std::string& name, long long repeat);
  /// Ends it, as it should end: Process::close().
  void close() { process_.close(); }

 private:
  [[noreturn]] void refuse(const std::string& doing, const std::string& what, const std::string& line);
  Process process_;
};

/// Which cases both workers have and `globs` name (empty = all), in the baseline's order; the others of either go to `left_out`.
std::vector<std::string> common_cases(const std::vector<std::string>& of_baseline, const std::vector<std::string>& of_candidate,
                                      const std::vector<std::string>& globs, std::vector<GateLeftOut>& left_out);

/// Units of work that take the baseline 0.4 to 1 ms, or 1; of each case. Cases for which it answers with an error move to `left_out`.
std::vector<long long> calibrate(const GateCommands& commands, ChildKeeper& keeper, std::vector<std::string>& cases,
                                 std::vector<GateLeftOut>& left_out);

/// The kinds self and worker, ready to measure.
GateKind worker_kind(const GateCommands& commands, ChildKeeper& keeper, std::vector<std::string> cases, std::vector<long long> repeat,
                     std::uint64_t seed);

/// Counts of each case, of a repetition of repeat[i] units. `tell` is called before each case.
Counts count_worker(const CountTools& tools, const GateCommands& commands, ChildKeeper& keeper, const GateKind& kind,
                    const std::function<void(std::size_t)>& tell);

}  // namespace odrpo
