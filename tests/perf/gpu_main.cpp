// odrpo-bench-gpu: the gpu/… benchmarks alone, so that they need no HDF5 and no other library of the suites.
#include <benchmark/benchmark.h>

#include "tests/perf/gpu_bench.hpp"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  odrpo::perf::register_gpu();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
