// Picks the compiled copy of transformer_stage.cpp.
#include "policies/transformer/stages.hpp"

#include <algorithm>

#include "kernels/matmul.hpp"

namespace odrpo {

namespace portable {
extern const TransformerStages transformer_table;
}
namespace avx2 {
extern const TransformerStages transformer_table;
}
const TransformerStages& transformer_stages(Isa isa) {
  // the avx2 copy uses fused multiply-add, as the product of that name does
  return isa == Isa::avx2 && has_engine(ProductEngine::avx2) ? avx2::transformer_table : portable::transformer_table;
}

std::size_t attention_scratch(const AttentionShape& s) {
  const std::size_t rows = static_cast<std::size_t>(std::max(s.prompt_room, s.response_room)), hw = s.head_width(), keys = s.keys_room();
  // values transposed (prompt: of every head), queries and gradients of one head, chances and score gradients; the prompt's dK and dV
  return hw * s.prompt_room * s.heads + hw * rows + 2 * rows * hw + 2 * rows * keys + 2 * s.heads * s.prompt * hw;
}

}  // namespace odrpo
