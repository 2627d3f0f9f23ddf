// One batch after another: the ring, the suspects, the window's mean and its fall from the peak.
#include "train/collapse.hpp"

#include <algorithm>

#include "config/spec.hpp"

namespace odrpo {
namespace {

std::size_t ring_length(const RecordConfig& config, int steps) {
  return static_cast<std::size_t>(std::max(1, std::min(config.collapse_steps, steps)));
}

}  // namespace

CollapseWatch::CollapseWatch(const RecordConfig& config, int steps)
    : fall(config.collapse_fall),
      window(static_cast<std::size_t>(config.collapse_steps)),
      mean(ring_length(config, steps)),
      peak_before(ring_length(config, steps)),
      step(ring_length(config, steps)) {}

void CollapseWatch::add(int t, double reward) {
  sum += reward - mean[place];  // the batch T before it; 0 in the first turn
  mean[place] = reward;
  peak_before[place] = peak;
  step[place] = t;

  // Suspects are the first batches of stretches that were low so far. The peak never falls: whoever this batch clears, it clears all
  // before him, so that suspects are always the latest `low` batches.
  if (!collapsed()) {
    const auto oldest = [&] { return place + 1 >= low ? place + 1 - low : place + 1 + mean.size() - low; };
    ++low;
    while (low > 0 && !(reward < peak_before[oldest()] - fall)) --low;
    if (low == window) collapse_step = step[oldest()];
  }

  ++batches;
  if (++place == mean.size()) {
    place = 0;
    sum = 0;
    for (const double m : mean) sum += m;
  }
  if (static_cast<std::size_t>(batches) < window) return;
  latest = sum / static_cast<double>(window);
  peak = std::max(peak, latest);
  largest_fall = std::max(largest_fall, peak - latest);
}

double watch_bytes(const RecordConfig& config, int steps) {
  return static_cast<double>(ring_length(config, steps)) * (2 * sizeof(double) + sizeof(std::int32_t));
}

}  // namespace odrpo
