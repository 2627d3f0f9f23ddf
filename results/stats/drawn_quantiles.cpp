// Counts what each block of the list has of each unit once; a resample then needs one product per block, and the items of few blocks.
#include "results/stats/drawn_quantiles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace odrpo {

DrawnQuantiles::DrawnQuantiles(std::span<const double> value, std::span<const std::uint32_t> unit, std::size_t units)
    : value_(value), unit_(unit), units_(units) {
  const double items = static_cast<double>(value.size());
  const auto blocks = static_cast<std::size_t>(std::clamp(std::sqrt(10 * items / static_cast<double>(units)), 1.0, 1000.0));
  block_ = value.size() / blocks + 1;
  count_.assign((value.size() / block_ + 1) * units, 0);
  for (std::size_t i = 0; i < value.size(); ++i) ++count_[i / block_ * units + unit[i]];
  drawn_.resize(count_.size() / units);
}

double DrawnQuantiles::item(std::span<const std::uint32_t> times, std::uint64_t place) const {
  std::size_t block = 0;
  while (place >= drawn_[block]) place -= drawn_[block++];
  std::size_t i = block * block_;
  while (place >= times[unit_[i]]) place -= times[unit_[i++]];
  return value_[i];
}

void DrawnQuantiles::at(std::span<const std::uint32_t> times, std::span<const double> q, std::span<double> out) {
  std::uint64_t total = 0;
  for (std::size_t b = 0; b < drawn_.size(); ++b) {
    const std::uint32_t* count = &count_[b * units_];
    std::uint64_t drawn = 0;
    for (std::size_t u = 0; u < units_; ++u) drawn += std::uint64_t{count[u]} * times[u];
    total += drawn_[b] = drawn;
  }
  for (std::size_t k = 0; k < q.size(); ++k) {
    if (total == 0) {
      out[k] = std::numeric_limits<double>::quiet_NaN();
      continue;
    }
    const double place = q[k] * static_cast<double>(total - 1);
    const auto below = static_cast<std::uint64_t>(place);
    const double low = item(times, below), high = below + 1 < total ? item(times, below + 1) : low;
    out[k] = low + (place - static_cast<double>(below)) * (high - low);
  }
}

}  // namespace odrpo
