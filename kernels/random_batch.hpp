// Draws random words for a whole batch at once, four counter blocks per SIMD vector: the same words as draw() of kernels/random.hpp.
#pragma once
#include <cstdint>

#include "kernels/isa.hpp"
#include "kernels/purpose.hpp"

namespace odrpo {

/// The functions of random_stage.cpp; each instruction set has its own copy.
struct RandomStages {
  /// Sets out[i][b][0..3], i < count, b < blocks, to the four words of draw(key, purpose, step, prompt[i], first_block + b).
  void (*fill)(std::uint32_t* out, std::uint64_t key, Purpose purpose, std::uint32_t step, const std::uint32_t* prompt, int count,
               std::uint32_t first_block, int blocks);
  /// Sets out[2b], out[2b + 1], b < blocks, to the two numbers of math::normal_pair(draw(key, purpose, 0, prompt, b).x).
  void (*normals)(double* out, std::uint64_t key, Purpose purpose, std::uint32_t prompt, int blocks);
};
const RandomStages& random_stages(Isa isa);

}  // namespace odrpo
