// The microbenchmark program: all --benchmark_* flags are Google Benchmark's own.
#include <benchmark/benchmark.h>

#include <string>

#include "kernels/isa.hpp"
#include "tests/perf/bench.hpp"
#include "tests/perf/gpu_bench.hpp"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("isa", std::string(odrpo::isa_name(odrpo::best_isa())));
  benchmark::AddCustomContext("share", "time of a plain copy of the same bytes on this thread / time of the benchmark (1 = copy speed)");
  odrpo::perf::register_estimators();
  odrpo::perf::register_stages();
  odrpo::perf::register_steps();
  odrpo::perf::register_transformer();
  odrpo::perf::register_gpu();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
