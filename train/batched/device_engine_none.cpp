// The engines of a build without CUDA: none.
#include "kernels/failure.hpp"
#include "train/batched/device_engine.hpp"

namespace odrpo {

BatchEngine cuda_engines(int) { throw Failure(Exit::device, "this build has no CUDA"); }

}  // namespace odrpo
