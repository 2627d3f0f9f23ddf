// Between which values a group's rewards lie, and what of it teaches nothing; rewards that are missing are left out.
#pragma once
#include <cstdint>

#include "kernels/math.hpp"
#include "kernels/shared/judge_model.hpp"

namespace odrpo {

ODRPO_HD bool present(std::uint8_t score) { return score != no_score; }
ODRPO_HD bool present(float reward) { return reward == reward; }
ODRPO_HD bool present(double reward) { return reward == reward; }

/// Lowest and highest of a group's present values; `any` when there is one.
template <class T>
struct Range {
  T low, high;
  bool any;
};
/// All of them are equal, or there is none.
template <class T>
ODRPO_HD bool dead(const Range<T>& r) {
  return !r.any || r.low == r.high;
}
template <class T>
ODRPO_HD Range<T> range_of(const T* value, int n) {
  Range<T> r{};
  for (int i = 0; i < n; ++i) {
    if (!present(value[i])) continue;
    r.low = !r.any || value[i] < r.low ? value[i] : r.low;
    r.high = !r.any || value[i] > r.high ? value[i] : r.high;
    r.any = true;
  }
  return r;
}

/// The first of the present values that equal their lower median: the pivot. -1 when there is none.
template <class T>
ODRPO_HD int pivot_of(const T* value, int n) {
  int there = 0;
  for (int i = 0; i < n; ++i) there += present(value[i]);
  for (int i = 0; i < n; ++i) {
    if (!present(value[i])) continue;
    int below = 0, equal = 0;
    for (int j = 0; j < n; ++j) {
      below += present(value[j]) && value[j] < value[i];
      equal += value[j] == value[i];
    }
    if (below <= (there - 1) / 2 && (there - 1) / 2 < below + equal) return i;
  }
  return -1;
}

/// Levels lowest+1..levels that a value reaches.
template <class T>
ODRPO_HD int levels_reached(T value, int lowest, int levels) {
  const int whole = static_cast<int>(math::floor(static_cast<double>(value)));
  return (whole < lowest ? lowest : whole > levels ? levels : whole) - lowest;
}
/// Of those levels, how many nobody or everybody of the group reaches: level k is alive exactly when low < k <= high.
template <class T>
ODRPO_HD int dead_levels_of(const Range<T>& r, int lowest, int levels) {
  return (levels - lowest) - (r.any ? levels_reached(r.high, lowest, levels) - levels_reached(r.low, lowest, levels) : 0);
}

}  // namespace odrpo
