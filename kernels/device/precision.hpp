// How a device multiplies, and what that takes: for every build, with CUDA or without.
#pragma once
#include <cstddef>

namespace odrpo {

/// How floats are multiplied; sums are always of floats. tf32: factors rounded to 10 bits of mantissa, on the tensor cores.
enum class ProductPrecision { fp32, tf32 };

/// Bytes of the device's memory that the products of one queue work in.
inline constexpr std::size_t product_scratch_bytes = std::size_t{32} << 20;  // what NVIDIA advises for Hopper

}  // namespace odrpo
