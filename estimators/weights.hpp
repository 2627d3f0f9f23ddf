// The weight and the normaliser of one ordinal level: the single copy that definition, batch tables and breakdown share.
#pragma once
#include "estimators/estimator.hpp"
#include "kernels/math.hpp"
#include "kernels/portable.hpp"

namespace odrpo {

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
  if (weight == Weight::uniform || weight == Weight::linear) return 1.0;
  const double mixed = 4.0 * variance;
  return 0.1 + (weight == Weight::gini_median ? mixed * decay : mixed);
}

/// w_k of a level k >= 1 (Paper eq. for the Gini and Gini-Median weights; docs/estimators.md).
ODRPO_HD double level_weight(Weight weight, double level, double variance, double decay) {
  return level_shape(weight, level) * level_mix(weight, variance, decay);
}

/// N_k of a level that is neither empty nor full, without eps: sqrt(mu_k (1 - mu_k)) (with ddof 1 times sqrt(G / (G - 1))) or mu_k.
ODRPO_HD double level_norm(Norm norm, int count, int group, int ddof = 0) {
  if (norm == Norm::maxrl) return static_cast<double>(count) / static_cast<double>(group);
  return math::sqrt(level_variance(count, group, ddof));
}

/// How a convention divides a level (level_rule() of estimators/compat.hpp makes it from a config).
struct LevelRule {
  Norm norm;
  int ddof;
  double eps;
  bool others;    ///< centre and deviation come from the other members alone
  double single;  ///< what a group of one that reaches the level gets from it, per unit of weight
};

/// weight / (N_k + eps) of a level that `count` of `group` members reach; 0 when nobody or everybody does. Not for rule.others.
ODRPO_HD double level_factor(const LevelRule& rule, double weight, int count, int group) {
  if (count <= 0 || count >= group) return 0.0;
  return weight / (level_norm(rule.norm, count, group, rule.ddof) + rule.eps);
}

/// Deviation + eps of `others` indicators of which `count` are 1, or 1 (nothing is divided) when they are all equal or fewer than two.
ODRPO_HD double others_divisor(const LevelRule& rule, int count, int others) {
  if (count <= 0 || count >= others) return 1.0;
  return level_norm(rule.norm, count, others, rule.ddof) + rule.eps;
}

/// What a member gets from a level of that weight which `count` of `group` members reach: when it is one of them, and when it is not.
struct LevelShares {
  double reached, missed;
};
ODRPO_HD LevelShares level_shares(const LevelRule& rule, double weight, int count, int group) {
  if (group == 1) return {count == 1 ? weight * rule.single : 0.0, 0.0};
  if (count <= 0 || count >= group) return {0.0, 0.0};
  if (rule.others) {
    const int others = group - 1;
    return {weight * (group - count) / (others * others_divisor(rule, count - 1, others)),
            weight * -count / (others * others_divisor(rule, count, others))};
  }
  const double factor = level_factor(rule, weight, count, group);
  return {factor * (group - count) / group, factor * -count / group};
}

/// The same as one pass over the levels takes it: what reaching the level adds, and what all give up for it.
struct LevelTerm {
  float reached, centre;
};
ODRPO_HD LevelTerm level_term(Weight kind, const LevelRule& rule, int level, double decay, int count, int group) {
  const double weight = level_weight(kind, level, level_variance(count, group), decay);
  const LevelShares shares = level_shares(rule, weight, count, group);
  return {static_cast<float>(shares.reached - shares.missed), static_cast<float>(-shares.missed)};
}

}  // namespace odrpo
