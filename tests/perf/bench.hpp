// What the benchmark files share: the copy ceiling, and the yardstick's problem.
#pragma once
#include <benchmark/benchmark.h>

#include <cstddef>

#include "spec/spec.hpp"

namespace odrpo::perf {

/// Seconds in which this thread copies: reads `in` bytes and writes `out` bytes (streaming stores when the whole is larger than 4 MiB).
/// Median of several timings, measured once per size and kept, so that all benchmarks of a run share one ceiling.
double copy_seconds(std::size_t in, std::size_t out);

/// CPU seconds of this thread since it was made.
class CpuTimer {
 public:
  CpuTimer() : start_(now()) {}
  double seconds() const { return now() - start_; }

 private:
  static double now();
  double start_;
};

/// Sets `share` (ceiling / own CPU time of an iteration) and bytes per second, for iterations that read `in` and write `out` bytes.
void report_share(benchmark::State& state, const CpuTimer& timer, std::size_t in, std::size_t out);

/// The numpy yardstick's run: 256 prompts x 32 actions, tabular, batch 64 x 8, Adam, lattice rater (suites/yardstick.toml).
RunSpec yardstick(const char* estimator, int votes, Sampling sampling);

void register_estimators();
void register_stages();
void register_steps();
void register_transformer();

}  // namespace odrpo::perf
