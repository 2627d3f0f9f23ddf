// What the benchmark files share: microbenchmarks stated once, the copy ceiling, and the yardstick's problem.
#pragma once
#include <benchmark/benchmark.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "app/gate/serve.hpp"
#include "config/spec.hpp"

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

/// A microbenchmark, stated once: timed by Google Benchmark, and served to a gate (`odrpo-bench-perf --worker`).
struct Microbenchmark {
  std::string name;
  std::size_t in = 0, out = 0;      ///< bytes that an iteration reads and writes
  int groups = 0;                   ///< of an iteration, for the counter ns_per_group; 0 = none
  bool served = true;               ///< an iteration is short, and so is its set-up
  std::function<app::TimedWork()> make;  ///< a unit of the work is an iteration. Throws std::runtime_error where there is nothing to measure
};
using Catalogue = std::vector<Microbenchmark>;

/// A unit of work from a function that does it once.
template <class Once>
std::function<void(long long)> repeated(Once once) {
  return [once](long long n) mutable {
    for (long long i = 0; i < n; ++i) {
      once();
      benchmark::ClobberMemory();
    }
  };
}

void add_estimators(Catalogue& catalogue);
void add_stages(Catalogue& catalogue);
void add_steps(Catalogue& catalogue);
void register_with_benchmark(const Catalogue& catalogue);
void register_transformer();

}  // namespace odrpo::perf
