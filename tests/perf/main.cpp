// The microbenchmark program: all --benchmark_* flags are Google Benchmark's own.
#include <benchmark/benchmark.h>

#include <string>

#include "app/build_facts.hpp"
#include "app/usage.hpp"
#include "kernels/failure.hpp"
#include "kernels/isa.hpp"
#include "tests/perf/bench.hpp"
#include "tests/perf/gpu_bench.hpp"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  const odrpo::app::BuildFacts build = odrpo::app::build_facts();
  benchmark::AddCustomContext("odrpo_build_type", build.build_type);  // the library's own library_build_type is that of the library
  benchmark::AddCustomContext("odrpo_revision", build.revision);
  benchmark::AddCustomContext("isa", std::string(odrpo::isa_name(odrpo::best_isa())));
  benchmark::AddCustomContext("share", "time of a plain copy of the same bytes on this thread / time of the benchmark (1 = copy speed)");
  odrpo::perf::register_estimators();
  odrpo::perf::register_stages();
  odrpo::perf::register_steps();
  odrpo::perf::register_transformer();
  odrpo::perf::register_gpu();
  const bool any = benchmark::RunSpecifiedBenchmarks() > 0;  // else the library has said why: no such benchmark, no regular expression
  benchmark::Shutdown();
  try {
    odrpo::app::flush_stdout();
  } catch (const odrpo::Failure& failure) {
    odrpo::app::print_error(failure.what());
    return static_cast<int>(failure.code);
  }
  return static_cast<int>(any ? odrpo::Exit::ok : odrpo::Exit::usage);
}
