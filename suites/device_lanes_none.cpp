// The engines of a build without CUDA: none.
#include "kernels/failure.hpp"
#include "suites/device_lanes.hpp"

namespace odrpo {

LaneEngine cuda_lanes(int) { throw Failure(Exit::device, "this build has no CUDA"); }

}  // namespace odrpo
