// Reads the monotonic clock and a thread's CPU clock, and adds up the time that each stage of a training step takes.
#pragma once
#include <chrono>
#include <ctime>

namespace odrpo {

/// The time of the monotonic clock, seconds.
inline double now_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// The CPU time that this thread has used, nanoseconds.
inline double thread_cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

/// Measures the stages of a step: lap(stage) adds the time since the previous lap() to sums[stage].
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
