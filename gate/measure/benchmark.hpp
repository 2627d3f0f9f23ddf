// The kind benchmark: two programs made with Google Benchmark.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gate/measure/counts.hpp"
#include "gate/measure/measure.hpp"
#include "gate/report/report.hpp"

namespace odrpo {

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

}  // namespace odrpo
