// Compiles the kernels of a transformer on a CUDA device.
#include "kernels/device/tile.cuh"
#include "policies/transformer/device/device_transformer.inl"

template class odrpo::DeviceTransformer<odrpo::CudaQueue>;
