// The transformer's stages of one instruction set: compiled once per ISA into its own namespace.
#include "kernels/math.hpp"
#include "kernels/simd.hpp"
#include "policies/transformer_lane_math.hpp"
#include "policies/transformer_stages.hpp"

namespace odrpo::ODRPO_ISA {

#include "policies/transformer_attention.inl"
#include "policies/transformer_attention_backward.inl"
#include "policies/transformer_rows.inl"
#include "policies/transformer_vocabulary.inl"

extern const TransformerStages transformer_table;
const TransformerStages transformer_table = {embed,          norm,   norm_again,      norm_backward, gelu, gelu_backward,
                                             attend_prompts, attend, attend_backward, chances,       pick, logit_gradient,
                                             square_sum,     adam};

}  // namespace odrpo::ODRPO_ISA
