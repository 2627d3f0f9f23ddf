// The transformer's stages of one instruction set: compiled once per ISA into its own namespace.
#include "kernels/math.hpp"
#include "kernels/simd.hpp"
#include "policies/transformer/elementwise.hpp"
#include "policies/transformer/stages.hpp"

namespace odrpo::ODRPO_ISA {

#include "policies/transformer/attention.inl"
#include "policies/transformer/attention_backward.inl"
#include "policies/transformer/rows.inl"
#include "policies/transformer/vocabulary.inl"

extern const TransformerStages transformer_table;
const TransformerStages transformer_table = {embed,          norm,   norm_again,      norm_backward, gelu, gelu_backward,
                                             attend_prompts, attend, attend_backward, chances,       pick, logit_gradient,
                                             square_sum,     adam};

}  // namespace odrpo::ODRPO_ISA
