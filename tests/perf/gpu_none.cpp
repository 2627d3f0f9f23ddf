// The GPU benchmarks of a build without CUDA: none.
#include "tests/perf/gpu_bench.hpp"

namespace odrpo::perf {

void register_gpu() {}

}  // namespace odrpo::perf
