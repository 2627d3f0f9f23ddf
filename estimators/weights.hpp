// Computes the weight and the divisor of a level, and what the level adds to an advantage. The definition, the fast implementations and
// `explain` share this code.
#pragma once
#include "kernels/math.hpp"
#include "kernels/portable.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {

// Notation: mu_k = share of the group whose reward is at least k; Med = median of the group's rewards; G = size of the group.

/// Weight w_k of level k: level_shape() times level_mix(). To add a weight, add an enumerator, its word, and cases in these functions where
/// it needs them. `root`, sqrt(k), is the weight of convex-reinforce; no suite can choose it, so it has no word.
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

/// What a centred reward or indicator 1[r >= level] is divided by, plus eps: nothing; the group's standard deviation; that of the other
/// members (nothing where it is 0 or there are fewer than two others); the group's mean. best_of and best_of_centred are for levels; k is
/// the key `k`. With best_of, a member that reaches the level gets the probability that k - 1 random others all miss it, any other member
/// 0. best_of_centred divides by (G-k) / (G P). P = probability that k - 1 random others of a member that misses the level miss it too.
/// For rewards: `distances` is the sum of the distances from the mean, of which eps and the sum are divided by G. For ranks: quarter_range
/// is (G - 1) / 4, without eps; place_deviation is the standard deviation, with G - 1 times eps, since places are ranks over G - 1.
enum class Divisor { none, deviation, others_deviation, mean, best_of, best_of_centred, distances, quarter_range, place_deviation };

/// True if the weight depends on the group's median.
ODRPO_HD bool reads_median(Weight weight) { return weight == Weight::gini_median; }

/// exp(-max(median - level, 0) / 2): how the weight gini-median damps levels below the group's median. In (0, 1].
ODRPO_HD double median_decay(double median, double level) { return median > level ? math::exp((level - median) * 0.5) : 1.0; }

/// Variance of the indicator 1[r >= level] when `count` of `group` members reach the level: mu (1 - mu) group / (group - ddof). Here
/// mu = count / group. The variance is exactly 0 where all or none reach the level, and no digits cancel.
ODRPO_HD double level_variance(int count, int group, int ddof = 0) {
  const double c = count, g = group;
  return c * (g - c) / (g * (g - ddof));
}

/// The factor of a weight that depends on the level k alone: 1, k or sqrt(k). It is 0 for k <= 0, except that uniform is 1 everywhere.
ODRPO_HD double level_shape(Weight weight, double level) {
  if (weight == Weight::uniform) return 1.0;
  if (!(level > 0)) return 0.0;
  return weight == Weight::linear ? level : math::sqrt(level);
}

/// The factor of a weight that depends on the group: through `variance` = level_variance(count, group) and, for gini_median alone and
/// linearly, through `decay` = median_decay(median, level).
ODRPO_HD double level_mix(Weight weight, double variance, double decay) {
  if (weight != Weight::gini && weight != Weight::gini_median) return 1.0;
  const double mixed = 4.0 * variance;
  return 0.1 + (reads_median(weight) ? mixed * decay : mixed);
}

/// The weight w_k of a level k >= 1 (Paper eq. for the Gini and Gini-Median weights; docs/reference/estimators.md).
ODRPO_HD double level_weight(Weight weight, double level, double variance, double decay) {
  return level_shape(weight, level) * level_mix(weight, variance, decay);
}

/// How a convention divides what a level adds (level_rule() of estimators/compat.hpp makes it from a config).
struct LevelRule {
  Divisor divisor;
  int ddof;
  double eps;
  double single;  ///< what a group of one that reaches the level gets from it, per unit of weight
  int k;          ///< the key `k`: size of the subsets of best_of and best_of_centred
};

/// C(missed, k-1) / C(group-1, k-1): the probability that k - 1 others all miss a level. They are drawn without replacement from a member's
/// group - 1 others, of whom `missed` miss the level. It is 0 if there are fewer than k - 1 others.
ODRPO_HD double probability_of_missing(int missed, int group, int k) {
  if (group < k) return 0.0;
  double probability = 1;
  for (int j = 0; j < k - 1; ++j) probability = missed > j ? probability * (missed - j) / (group - 1 - j) : 0.0;
  return probability;
}

/// The divisor of a level that some but not all members reach: 1, mu_k + eps or sqrt(mu_k (1 - mu_k)) + eps. With ddof 1 the root is
/// multiplied by sqrt(G / (G - 1)). NaN for best_of, which divides nothing; infinity where best_of_centred gives nothing.
ODRPO_HD double level_divisor(const LevelRule& rule, int count, int group) {
  if (rule.divisor == Divisor::none) return 1.0;
  if (rule.divisor == Divisor::best_of) return __builtin_nan("");
  if (rule.divisor == Divisor::best_of_centred) {
    const double probability = probability_of_missing(group - count - 1, group, rule.k);
    return probability > 0 ? (group - rule.k) / (group * probability) : math::from_bits(0x7ff0000000000000u);  // infinity: the level adds 0
  }
  if (rule.divisor == Divisor::mean) return static_cast<double>(count) / static_cast<double>(group) + rule.eps;
  return math::sqrt(level_variance(count, group, rule.ddof)) + rule.eps;
}

/// The divisor of a level from the `others` other members of a group, `count` of whom reach it (others_deviation); 1 where they do not differ.
ODRPO_HD double others_divisor(const LevelRule& rule, int count, int others) {
  if (count <= 0 || count >= others) return 1.0;
  return level_divisor(rule, count, others);
}

/// What a level that `count` of `group` members reach adds to a member's advantage: `reached` if the member reaches it, else `missed`.
struct LevelShares {
  double reached, missed;
};
ODRPO_HD LevelShares level_shares(const LevelRule& rule, double weight, int count, int group) {
  if (group == 1) return {count == 1 ? weight * rule.single : 0.0, 0.0};
  if (count <= 0 || count >= group) return {0.0, 0.0};
  if (rule.divisor == Divisor::others_deviation) {
    const int others = group - 1;
    return {weight * (group - count) / (others * others_divisor(rule, count - 1, others)),
            weight * -count / (others * others_divisor(rule, count, others))};
  }
  if (rule.divisor == Divisor::best_of) return {weight * probability_of_missing(group - count, group, rule.k), 0.0};
  const double factor = weight / level_divisor(rule, count, group);
  return {factor * (group - count) / group, factor * -count / group};
}

/// LevelShares in the form for one pass over the levels: `reached` is added to members that reach the level, `centre` is subtracted from
/// every member. `gap` is how much more the level is worth than the level below it.
struct LevelTerm {
  float reached, centre;
};
ODRPO_HD LevelTerm term_of(const LevelShares& shares) {
  return {static_cast<float>(shares.reached - shares.missed), static_cast<float>(-shares.missed)};
}
ODRPO_HD LevelTerm level_term(Weight kind, const LevelRule& rule, int level, double decay, int count, int group, double gap = 1.0) {
  const double weight = gap * level_weight(kind, level, level_variance(count, group), decay);
  return term_of(level_shares(rule, weight, count, group));
}

}  // namespace odrpo
