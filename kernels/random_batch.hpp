// Random words for a whole batch at once: the same answers as draw() of kernels/random.hpp, eight blocks in flight.
#pragma once
#include <cstdint>

#include "kernels/isa.hpp"
#include "kernels/purpose.hpp"

namespace odrpo {

/// The stages of this file, one table per instruction set.
struct RandomStages {
  /// out[i][block][word], i < count prompts, block < blocks: word of draw(key, purpose, step, prompt[i], first_block + block).
  void (*fill)(std::uint32_t* out, std::uint64_t key, Purpose purpose, std::uint32_t step, const std::uint32_t* prompt, int count,
               std::uint32_t first_block, int blocks);
};
const RandomStages& random_stages(Isa isa);

}  // namespace odrpo
