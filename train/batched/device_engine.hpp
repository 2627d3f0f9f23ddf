// CUDA devices as engines that train many runs at once.
#pragma once
#include "kernels/device/precision.hpp"
#include "train/batched/engine.hpp"

namespace odrpo {

/// An engine on CUDA device `index` of find_devices(), which multiplies for transformers in `precision`. Throws Failure(Exit::device) when
/// it cannot be used, or when this build has no CUDA.
BatchEngine cuda_engine(int index, ProductPrecision precision);

}  // namespace odrpo
