// The clock of a thread.
#pragma once
#include <ctime>

namespace odrpo::app {

/// CPU time of this thread, nanoseconds.
inline double thread_cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

}  // namespace odrpo::app
