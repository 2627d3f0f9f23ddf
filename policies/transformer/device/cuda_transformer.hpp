// Declares a transformer in training on the current CUDA device. Built only where nvcc is.
#pragma once
#include "kernels/device/cuda_queue.hpp"
#include "policies/transformer/device/device_transformer.hpp"

namespace odrpo {

extern template class DeviceTransformer<CudaQueue>;  // its kernels are compiled in cuda_transformer.cu
using CudaTransformer = DeviceTransformer<CudaQueue>;

}  // namespace odrpo
