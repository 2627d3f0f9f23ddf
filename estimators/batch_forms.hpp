// Defines the forms that read more than the rewards of one group: the whole batch (bnpo, shrunk), or the lengths of responses (opo).
#pragma once
#include <span>

#include "estimators/estimator.hpp"

namespace odrpo {

/// Sets out[groups][rollouts] to the advantages of a batch under a form whose FormRow::reads is not Reads::group; training and `compute` call it.
/// rewards[groups][rollouts]: NaN = missing; the others are the group, and a missing one gets 0. lengths[groups][rollouts], tokens of each response,
/// for Reads::lengths alone. `levels` = K >= 2 is for bnpo, which maps the levels 1..K to 0..1, and lower scores to 0. If the config has `values`,
/// rewards are scores 0..K that count as their values. O(groups rollouts).
///
/// - opo: r - sum_j L_j r_j / sum_j L_j (arXiv 2505.23585). A group of one gets what its convention says.
/// - bnpo: (x - p) / f(p), x = the reward in 0..1, p = mean of the group, f = density of Beta(a', b'), a' = max(1, 1 + a/3), b' = max(1, 1 + b/3),
///   a = (m (1 - m) / v - 1) m and b = (m (1 - m) / v - 1) (1 - m) from mean m and variance v (ddof 1) of the batch's p; 1/f <= 1e6 (BNPO a9c51b9,
///   bnpo_ray_trainer.py:105). f = 1 for a single group (as there) and where all p are equal (NaN there). A group of one gets 0 and has no p.
/// - shrunk: r - (1 - l) mean of the others - l mean of the other prompts' means; l = V / (V + T), V = mean s^2 / (G - 1), T = max(0, variance of
///   means - mean s^2 / G) over the other prompts, all with ddof 1: V estimates the variance of the mean of the others, T that of the prompts' true
///   means. l = 0 if V = 0, and with fewer than two other prompts; l = 1 for a group of one. Prompts with fewer than two rewards are no other prompts.
///
/// Throws Failure(Exit::limits) for another form, lengths that are missing or below 1, fewer than two levels, and a config that compat_refusal() or
/// values_refusal() refuses.
void batch_advantages(const EstimatorConfig& config, int levels, int rollouts, std::span<const double> rewards, std::span<const int> lengths,
                      std::span<double> out);

}  // namespace odrpo
