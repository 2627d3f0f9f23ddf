// Names what a level weighs and what is divided by: the choices of an estimator's config.
#pragma once
#include "kernels/shared/word.hpp"

namespace odrpo {

/// Weight w_k of a level: level_shape times level_mix. A new weight is an enumerator, its word, and a case in each of the two where it
/// needs one. `root` is the weight of convex-reinforce; it has no word.
enum class Weight { uniform, linear, gini, gini_median, root };
inline constexpr Word<Weight> weight_words[] = {
    {Weight::uniform, "uniform", "w_k = 1"},
    {Weight::linear, "linear", "w_k = k"},
    {Weight::gini, "gini", "w_k = sqrt(k) (0.1 + 4 mu_k (1 - mu_k))"},
    {Weight::gini_median, "gini-median", "w_k = sqrt(k) (0.1 + 4 mu_k (1 - mu_k) exp(-max(Med - k, 0) / 2))"},
};

/// Normaliser N_k of a level: sqrt(mu_k (1 - mu_k)) or mu_k.
enum class Norm { grpo, maxrl };
inline constexpr Word<Norm> norm_words[] = {
    {Norm::grpo, "grpo", "N_k = sqrt(mu_k (1 - mu_k))"},
    {Norm::maxrl, "maxrl", "N_k = mu_k"},
};

/// What a centred reward or indicator is divided by, + eps: nothing, the group's standard deviation, that of the other members (undivided
/// where it is 0 or there are fewer than two of them), or the group's mean. best_of, of levels alone: the chance that k - 1 others all miss
/// the level, which multiplies; the level takes nothing from those that miss it. best_of_centred: (G-k)/G over the chance that k - 1 others
/// all miss the level beside one more that misses it.
enum class Divisor { none, deviation, others_deviation, mean, best_of, best_of_centred };

}  // namespace odrpo
