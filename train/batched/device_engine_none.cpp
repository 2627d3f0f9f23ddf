// Refuses every device in a build without CUDA.
#include "kernels/system/fail.hpp"
#include "train/batched/engine.hpp"

namespace odrpo {

BatchEngine cuda_engine(int, ProductPrecision) { fail(Exit::device, "this build has no CUDA"); }

}  // namespace odrpo
