// How far two measurements of the same work differ on this machine: the ruler that every timing here is read with.
#pragma once
#include <span>
#include <string_view>
#include <vector>

namespace odrpo::app {

struct HostNoise {
  int medians = 0;                   ///< n, measurements taken
  int timings = 0;                   ///< of which each is the median
  double unit_ms = 0;                ///< time of the work, median of all measurements, milliseconds
  double spread = 0;                 ///< percent: 1.4826 median |m - median| / median of the measurements, a robust standard deviation
  double worst_pair = 0;             ///< percent: largest |A - B| / B of two neighbouring measurements, A against A
  std::string_view verdict() const;  ///< quiet, usable or noisy
  std::string_view advice() const;
};

/// The statistics of measurements (milliseconds, at least 2, positive), in the order taken.
HostNoise noise_of(std::span<const double> medians, int timings);

/// Measures: a fixed piece of arithmetic, about a second in all.
HostNoise measure_noise();

}  // namespace odrpo::app
