// A fixed piece of arithmetic, timed again and again.
#include "app/host_noise.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

namespace odrpo::app {
namespace {

using Clock = std::chrono::steady_clock;

/// Multiplications that wait for each other: the time is the processor's, not the memory's.
std::uint64_t work(std::uint64_t x, int rounds) {
  for (int i = 0; i < rounds; ++i) x = x * 6364136223846793005ULL + 1442695040888963407ULL;
  return x;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

constexpr double quiet_spread = 0.5, usable_spread = 3.0;  // percent

}  // namespace

HostNoise noise_of(std::span<const double> medians, int timings) {
  HostNoise out;
  out.medians = static_cast<int>(medians.size());
  out.timings = timings;
  out.unit_ms = median({medians.begin(), medians.end()});
  std::vector<double> away;
  for (const double m : medians) away.push_back(std::abs(m - out.unit_ms));
  out.spread = 100 * 1.4826 * median(away) / out.unit_ms;
  for (std::size_t i = 1; i < medians.size(); ++i)
    out.worst_pair = std::max(out.worst_pair, 100 * std::abs(medians[i] - medians[i - 1]) / medians[i - 1]);
  return out;
}

std::string_view HostNoise::verdict() const { return spread < quiet_spread ? "quiet" : spread < usable_spread ? "usable" : "noisy"; }

std::string_view HostNoise::advice() const {
  if (spread < quiet_spread) return "differences of 1 or 2 % can be seen";
  if (spread < usable_spread) return "repeat measurements, and trust differences of 10 % or more";
  return "do not compare times measured here; results of training are not affected";
}

HostNoise measure_noise() {
  constexpr int measurements = 40, timings = 15, rounds = 900'000;  // 40 x 15 x about 1 ms
  constexpr auto limit = std::chrono::milliseconds(1100);
  std::uint64_t x = work(1, rounds);  // wakes the core up
  std::vector<double> medians, times;
  const auto begin = Clock::now();
  while (static_cast<int>(medians.size()) < measurements && (medians.size() < 4 || Clock::now() - begin < limit)) {
    times.clear();
    for (int i = 0; i < timings; ++i) {
      const auto start = Clock::now();
      x = work(x, rounds);
      times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    }
    medians.push_back(median(times));
  }
  volatile std::uint64_t keep = x;
  (void)keep;
  return noise_of(medians, timings);
}

}  // namespace odrpo::app
