// Progress of a suite on stderr: a bar on a terminal, else a plain line every 30 seconds.
#pragma once
#include <chrono>
#include <string>

namespace odrpo {
struct Tally;
}

namespace odrpo::app {

/// Where and how progress is shown.
struct ProgressStyle {
  bool show = true;  ///< false: nothing at all
  bool bar = false;  ///< a terminal that can redraw a line
  bool colour = false;
  double plain_seconds = 30;  ///< time between plain lines
};
/// From --quiet, stderr's kind and the variables TERM, CI and NO_COLOR.
ProgressStyle progress_style(bool quiet);

class ProgressBar {
 public:
  explicit ProgressBar(ProgressStyle style);
  void show(const Tally& tally);

 private:
  using Clock = std::chrono::steady_clock;
  ProgressStyle style_;
  Clock::time_point last_;
  bool drawn_ = false;
};

/// "12 s", "3 min 20 s", "31 min", "1 h 05 min", "3 d 04 h".
std::string duration_text(double seconds);
/// "[####......] 12/192 runs  2,410/38,400 steps  ETA 31 min", at most `width` columns wide, without colour or carriage return. The bar
/// shows steps. A narrow terminal leaves the bar out, then the steps.
std::string bar_text(const Tally& tally, int width);
/// "12 of 192 runs and 2,410 of 38,400 steps done, about 31 min left".
std::string plain_text(const Tally& tally);

}  // namespace odrpo::app
