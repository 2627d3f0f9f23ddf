// CUDA devices as engines that train many runs at once.
#pragma once
#include "train/batched/engine.hpp"

namespace odrpo {

/// An engine on CUDA device `index` of find_devices(). Throws Failure(Exit::device) when it cannot be used, or when this build has no CUDA.
BatchEngine cuda_engines(int index);

}  // namespace odrpo
