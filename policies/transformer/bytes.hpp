// What a transformer in training weighs, from its shape alone: for preflight.
#pragma once
#include "policies/transformer/parameters.hpp"

namespace odrpo {

/// Bytes of a TransformerPass with room for `prompts` prompts of `per_prompt` responses.
double pass_bytes(const TransformerShape& shape, int prompts, int per_prompt, bool keep);

/// Bytes of a TransformerPolicy that has taken a step: two passes, the backward pass, weights with moments and copies.
double policy_bytes(const TransformerConfig& config, const TransformerShape& shape, int prompts, int per_prompt);

}  // namespace odrpo
