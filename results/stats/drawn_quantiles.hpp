// Quantiles of a long list in every resample of a bootstrap whose units are groups of the list's items.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace odrpo {

/// Items in ascending order of value, each belonging to a unit. When unit u is drawn times[u] times, so is each of its items.
class DrawnQuantiles {
 public:
  /// `value` ascending, without NaN; `unit[i]` < units, at least one. Both lists must outlive this.
  DrawnQuantiles(std::span<const double> value, std::span<const std::uint32_t> unit, std::size_t units);

  /// Quantiles `q` (each 0..1) of what is drawn, as quantile() (results/stats/statistics.hpp) of the repeated items. NaN where nothing is drawn.
  /// Looks at a few blocks of a long list, not at all of it.
  void at(std::span<const std::uint32_t> times, std::span<const double> q, std::span<double> out);

 private:
  double item(std::span<const std::uint32_t> times, std::uint64_t place) const;
  std::span<const double> value_;
  std::span<const std::uint32_t> unit_;
  std::size_t units_, block_;         // items in a block
  std::vector<std::uint32_t> count_;  // [blocks][units] items
  std::vector<std::uint64_t> drawn_;  // [blocks] of the present resample
};

}  // namespace odrpo
