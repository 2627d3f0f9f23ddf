// The ordinal levels: computes their weights and divisors, and what one level gives. The definition, the fast forms and the breakdown share this
// text.
#pragma once
#include "kernels/math.hpp"
#include "kernels/portable.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {

// Names what a level weighs and what is divided by: the choices of an estimator's config.

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
/// where it is 0 or there are fewer than two of them), or the group's mean. best_of, of levels alone: the probability that k - 1 others all miss
/// the level, which multiplies; the level takes nothing from those that miss it. best_of_centred: (G-k)/G over the probability that k - 1 others
/// all miss the level beside one more that misses it.
enum class Divisor { none, deviation, others_deviation, mean, best_of, best_of_centred };

/// Does the weight read the group's median?
ODRPO_HD bool reads_median(Weight weight) { return weight == Weight::gini_median; }

/// exp(-max(median - level, 0) / 2): how the weight gini-median damps levels below the group's median. In (0, 1].
ODRPO_HD double median_decay(double median, double level) { return median > level ? math::exp((level - median) * 0.5) : 1.0; }

/// Variance of the indicator 1[r >= level] when `count` of `group` members reach the level: mu (1 - mu) group / (group - ddof), with an
/// exact zero test and no cancellation.
ODRPO_HD double level_variance(int count, int group, int ddof = 0) {
  const double c = count, g = group;
  return c * (g - c) / (g * (g - ddof));
}

/// What a weight grows with along the levels: 1, k or sqrt(k). Levels k <= 0 have none, except that uniform is 1 everywhere.
ODRPO_HD double level_shape(Weight weight, double level) {
  if (weight == Weight::uniform) return 1.0;
  if (!(level > 0)) return 0.0;
  return weight == Weight::linear ? level : math::sqrt(level);
}

/// The rest of a weight, which depends on the level through its `variance` = level_variance(count, group) and, for gini_median alone and
/// linearly, through its `decay` = median_decay(median, level).
ODRPO_HD double level_mix(Weight weight, double variance, double decay) {
  if (weight != Weight::gini && weight != Weight::gini_median) return 1.0;
  const double mixed = 4.0 * variance;
  return 0.1 + (reads_median(weight) ? mixed * decay : mixed);
}

/// w_k of a level k >= 1 (Paper eq. for the Gini and Gini-Median weights; docs/reference/estimators.md).
ODRPO_HD double level_weight(Weight weight, double level, double variance, double decay) {
  return level_shape(weight, level) * level_mix(weight, variance, decay);
}

/// How a convention divides a level (level_rule() of estimators/compat.hpp makes it from a config).
struct LevelRule {
  Divisor divisor;
  int ddof;
  double eps;
  double single;  ///< what a group of one that reaches the level gets from it, per unit of weight
  int k;          ///< the key k
};

/// C(missed, k-1) / C(group-1, k-1): the probability that k - 1 others, drawn without replacement, are among `missed` of the group; 0 where
/// there are not so many others.
ODRPO_HD double probability_of_missing(int missed, int group, int k) {
  if (group < k) return 0.0;
  double probability = 1;
  for (int j = 0; j < k - 1; ++j) probability = missed > j ? probability * (missed - j) / (group - 1 - j) : 0.0;
  return probability;
}

/// N_k + eps of a level that is neither empty nor full: 1, sqrt(mu_k (1 - mu_k)) (with ddof 1 times sqrt(G / (G - 1))) or mu_k.
/// NaN for best_of, which divides nothing; infinity where best_of_centred gives nothing.
ODRPO_HD double level_divisor(const LevelRule& rule, int count, int group) {
  if (rule.divisor == Divisor::none) return 1.0;
  if (rule.divisor == Divisor::best_of) return __builtin_nan("");
  if (rule.divisor == Divisor::best_of_centred) {
    const double probability = probability_of_missing(group - count - 1, group, rule.k);
    return probability > 0 ? (group - rule.k) / (group * probability) : math::from_bits(0x7ff0000000000000u);  // infinity: the level gives nothing
  }
  if (rule.divisor == Divisor::mean) return static_cast<double>(count) / static_cast<double>(group) + rule.eps;
  return math::sqrt(level_variance(count, group, rule.ddof)) + rule.eps;
}

/// What a member's difference from its `others` is divided by, when `count` of them reach the level; 1 where their deviation is 0.
ODRPO_HD double others_divisor(const LevelRule& rule, int count, int others) {
  if (count <= 0 || count >= others) return 1.0;
  return level_divisor(rule, count, others);
}

/// What a member gets from a level of that weight which `count` of `group` members reach: when it is one of them, and when it is not.
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

/// The same as one pass over the levels takes it: what reaching the level adds, and what all give up for it. `gap`: what the level is worth
/// beyond the one below it.
struct LevelTerm {
  float reached, centre;
};
ODRPO_HD LevelTerm level_term(Weight kind, const LevelRule& rule, int level, double decay, int count, int group, double gap = 1.0) {
  const double weight = gap * level_weight(kind, level, level_variance(count, group), decay);
  const LevelShares shares = level_shares(rule, weight, count, group);
  return {static_cast<float>(shares.reached - shares.missed), static_cast<float>(-shares.missed)};
}

}  // namespace odrpo
