// A build without CUDA: no device is an engine.
#include "kernels/shared/failure.hpp"
#include "train/batched/engine.hpp"

namespace odrpo {

BatchEngine cuda_engine(int, ProductPrecision) { throw Failure(Exit::device, "this build has no CUDA"); }

}  // namespace odrpo
