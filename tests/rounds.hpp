// How often a test draws: a few times at each landing, many times for the label full.
#pragma once
#include <cstdlib>

namespace odrpo {

/// `full` where ODRPO_FULL_TESTS is set, as ctest sets it for the cases with the tag [slow] (tests/CMakeLists.txt), else `quick`.
template <class Count>
Count rounds(Count quick, Count full) {
  return std::getenv("ODRPO_FULL_TESTS") ? full : quick;
}

}  // namespace odrpo
