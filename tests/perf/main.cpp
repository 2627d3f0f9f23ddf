// The microbenchmark program: all --benchmark_* flags are Google Benchmark's own; with --worker it answers a gate's requests.
#include <benchmark/benchmark.h>

#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "app/command.hpp"
#include "kernels/isa.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/subnormals.hpp"
#include "kernels/system/terminal.hpp"
#include "tests/perf/bench.hpp"
#include "tests/perf/gpu_bench.hpp"

namespace odrpo::perf {
namespace {

void run(benchmark::State& state, const Microbenchmark& b) {
  app::TimedWork work;
  try {
    work = b.make();
  } catch (const std::runtime_error& nothing) {
    return state.SkipWithError(nothing.what());
  }
  work.reset();
  const CpuTimer timer;
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(state.max_iterations)))
    work.run(static_cast<long long>(state.max_iterations));
  if (b.groups > 0) state.counters["ns_per_group"] = timer.seconds() * 1e9 / (static_cast<double>(state.iterations()) * b.groups);
  report_share(state, timer, b.in, b.out);
}

}  // namespace

void register_with_benchmark(const Catalogue& catalogue) {
  for (const Microbenchmark& b : catalogue) benchmark::RegisterBenchmark(b.name.c_str(), [&b](benchmark::State& state) { run(state, b); });
}

}  // namespace odrpo::perf

int main(int argc, char** argv) {
  const odrpo::FlushSubnormals flush;  // as in training
  odrpo::perf::Catalogue catalogue;
  odrpo::perf::add_estimators(catalogue);
  odrpo::perf::add_stages(catalogue);
  odrpo::perf::add_steps(catalogue);
  if (argc == 2 && std::string_view(argv[1]) == "--worker") {
    std::vector<odrpo::app::WorkCase> cases;
    for (const auto& b : catalogue)
      if (b.served) cases.push_back({b.name, b.make});
    odrpo::app::serve(cases, std::cin, std::cout);
    return 0;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  const odrpo::app::BuildFacts build = odrpo::app::build_facts();
  benchmark::AddCustomContext("odrpo_build_type", build.build_type);  // the library's own library_build_type is that of the library
  benchmark::AddCustomContext("odrpo_revision", build.revision);
  benchmark::AddCustomContext("isa", std::string(odrpo::isa_name(odrpo::best_isa())));
  benchmark::AddCustomContext("share", "time of a plain copy of the same bytes on this thread / time of the benchmark (1 = copy speed)");
  odrpo::perf::register_with_benchmark(catalogue);
  odrpo::perf::register_transformer();
  odrpo::perf::register_gpu();
  const bool any = benchmark::RunSpecifiedBenchmarks() > 0;  // else the library has said why: no such benchmark, no regular expression
  benchmark::Shutdown();
  try {
    odrpo::flush_stdout();
  } catch (const odrpo::Failure& failure) {
    odrpo::print_error(failure.what());
    return static_cast<int>(failure.code);
  }
  return static_cast<int>(any ? odrpo::Exit::ok : odrpo::Exit::usage);
}
