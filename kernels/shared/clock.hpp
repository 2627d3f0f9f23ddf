// The monotonic clock and the clock of a thread, and a lap timer for the stages of a step.
#pragma once
#include <chrono>
#include <ctime>

namespace odrpo {

/// Seconds of the monotonic clock.
inline double now_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// CPU time of this thread, nanoseconds.
inline double thread_cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

/// Adds the time since the last lap to one of several sums.
class LapClock {
 public:
  explicit LapClock(double* sums) : sums_(sums), last_(now_seconds()) {}
  void lap(int stage) {
    const double now = now_seconds();
    sums_[stage] += now - last_;
    last_ = now;
  }

 private:
  double* sums_;
  double last_;
};

}  // namespace odrpo
