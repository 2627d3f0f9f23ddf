// What one corrupted score does to the advantages of its group.
#pragma once
#include <span>

#include "estimators/theory/setting.hpp"

namespace odrpo {

/// A group before and after one member's score became another one. Root mean squares are over all members; `spread` is the root of the
/// clean members' summed squared deviations from their own mean: the contrast that is left among them.
struct Leverage {
  double share = 0;  ///< of sum A^2 after, what the corrupted member holds; NaN where all advantages are 0
  double rms_before = 0, rms_after = 0;
  double spread_before = 0, spread_after = 0;
};

/// levels[i] = level of member i, 1..K; that of `member` becomes `outlier`. The setting has as many members; by the definition.
Leverage leverage_of(const TheorySetting& setting, std::span<const int> levels, std::size_t member, int outlier);

}  // namespace odrpo
