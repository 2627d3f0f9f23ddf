// The benchmarks of a GPU: part of odrpo-bench-perf, and a program of their own that is carried to machines with little else.
#pragma once

namespace odrpo::perf {

/// Registers gpu/…; where no device answers a single row says so.
void register_gpu();

}  // namespace odrpo::perf
