// CUDA devices as engines of lanes.
#pragma once
#include "suites/lane_engine.hpp"

namespace odrpo {

/// An engine on CUDA device `index` of find_devices(). Throws Failure(Exit::device) when it cannot be used, or when this build has no CUDA.
LaneEngine cuda_lanes(int index);

}  // namespace odrpo
