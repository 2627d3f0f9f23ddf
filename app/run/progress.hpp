// Shows the progress of a suite on stderr: a bar on a terminal, else a plain line every 30 seconds.
#pragma once
#include <chrono>
#include <string>

namespace odrpo {
struct Tally;
}

namespace odrpo::app {

/// Where and how progress is shown.
struct ProgressStyle {
  bool show = true;  ///< false: show nothing
  bool bar = false;  ///< redraw one line of a terminal; false: print plain lines
  bool colour = false;
  double plain_seconds = 30;  ///< time between plain lines
};
/// Chooses the style from --quiet, from whether stderr is a terminal, and from the variables TERM, CI and NO_COLOR.
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

/// A duration, rounded up: "12 s", "3 min 20 s", "31 min", "1 h 05 min", "3 d 04 h".
std::string duration_text(double seconds);
/// "[####......] 12/192 runs  2,410/38,400 steps  310 steps/s  evaluating 2 runs  making 1 world (34 %)  ETA 31 min", at most `width` columns
/// wide, without colour or carriage return. The bar shows the share of steps done. In a narrow terminal speed and evaluations are left out, then
/// the bar, then the number of steps.
std::string bar_text(const Tally& tally, int width);
/// The plain line: "12 of 192 runs and 2,410 of 38,400 steps done, 310 steps/s, about 31 min left".
std::string plain_text(const Tally& tally);

}  // namespace odrpo::app
