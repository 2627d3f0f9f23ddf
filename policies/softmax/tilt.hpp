// Where a tilted policy starts: logits = tilt x value, or the linear policy nearest to them.
#pragma once
#include <span>
#include <vector>

#include "policies/softmax/policy.hpp"

namespace odrpo {

/// The least-squares fit of values by features, both centred within each prompt (a softmax does not feel what a prompt's actions share):
/// theta minimises sum over prompts p and actions a of (v_pa - mean_a v_p - (x_pa - mean_a x_p) . theta)^2. By normal equations and
/// Cholesky's decomposition in double, with + - * / sqrt alone: the same bits on every machine. Values are [P][width], as features are.
///
/// 1e-9 of the mean of the matrix's diagonal is added to the diagonal, so that there is a solution where the features of all responses
/// span fewer than F dimensions. Zeros where no features differ.
std::vector<double> fit_linear(const PolicyShape& shape, const float* value);

/// The parameters of a policy with logits tilt x value: of a tabular one [P][width]; of a linear one tilt x `fit` (fit_linear()).
std::vector<float> tilted_parameters(PolicyKind kind, const PolicyShape& shape, const float* value, std::span<const double> fit,
                                     double tilt);

}  // namespace odrpo
