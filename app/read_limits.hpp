// --max-seconds and --max-memory: what reading a result file may take.
#pragma once
#include <cstddef>

#include "results/store.hpp"

namespace odrpo::app {

/// 0 = the default of ReadLimits.
inline ReadLimits read_limits(double seconds, double megabytes) {
  ReadLimits limits;
  limits.seconds = seconds;
  if (megabytes > 0) limits.memory_bytes = static_cast<std::size_t>(megabytes * 1e6);
  return limits;
}

}  // namespace odrpo::app
