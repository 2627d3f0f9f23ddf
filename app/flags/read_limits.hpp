// --max-seconds and --max-memory: what reading a result file may take.
#pragma once
#include <cstddef>

#include "kernels/shared/failure.hpp"
#include "results/store/store.hpp"

namespace odrpo::app {

/// HDF5 needs so much for itself: with less, it calls good files damaged.
inline constexpr double least_megabytes = 32;

/// 0 = the default of ReadLimits. Failure usage.
inline ReadLimits read_limits(double seconds, double megabytes) {
  ReadLimits limits;
  limits.seconds = seconds;
  if (megabytes > 0 && megabytes < least_megabytes) throw Failure(Exit::usage, "--max-memory: less than 32 MB is not enough for any file");
  if (megabytes > 0) limits.memory_bytes = static_cast<std::size_t>(megabytes * 1e6);
  return limits;
}

}  // namespace odrpo::app
