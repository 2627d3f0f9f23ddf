// The monotonic clock, in seconds, and a lap timer for the stages of a step.
#pragma once
#include <chrono>

namespace odrpo {

inline double now_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

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
