// What raters leave and estimators skip: the reward of a response that ended without a score.
#pragma once
#include <cstdint>

namespace odrpo {

/// An integer score that is not there: the judge's answers could not be read and were dropped. Of real rewards: NaN.
inline constexpr std::uint8_t no_score = 255;

}  // namespace odrpo
