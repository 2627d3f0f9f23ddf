// Defines every estimator as plain scalar code in double. Tests compare the faster implementations with it.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "estimators/compat.hpp"
#include "estimators/estimator.hpp"
#include "estimators/level_formulas.hpp"

namespace odrpo {

inline constexpr double no_median = std::numeric_limits<double>::quiet_NaN();

/// Forms that sum over levels up to a real reward (weighted continuous odrpo, convex-reinforce) refuse rewards above this.
inline constexpr double max_level = 1e6;

/// The median of `values` by rule lower, mid or upper; NaN if there are none. Throws Failure for MedianRule::running, which needs earlier
/// batches.
double group_median(std::span<const double> values, MedianRule rule);

/// Sets out[G] to the advantages of one group with rewards[G], for any form under any convention (docs/estimators.md). A group of equal
/// rewards gets exact zeros, but under corpo; a group of one gets what its convention says. If the config has `values` R_1..R_K, rewards are scores 0..K. A
/// score then counts as its value, level k as Delta_k = R_k - R_(k-1), and `levels` is taken as K. Forms of levels (but convex-reinforce)
/// sum over 1..levels if every reward is an integer in 0..levels, else as odrpo_continuous() does. `median`: the median for the weight
/// gini-median; no_median = that of the group by config.median; the rule `running` needs a value. `floor` = floor_squared() of the
/// posterior estimator that applies this form. A deviation D with ddof d of n rewards becomes sqrt(D^2 + floor n / (n - d)), and the MAD of
/// mc-grpo becomes sqrt(MAD^2 + floor). Throws Failure for a missing median; rewards that are not finite or above max_level; levels below
/// 1; sizes of `out` and `rewards` that differ; a posterior estimator; a form that reads more than one group (FormRow::reads); a config that compat_refusal() or values_refusal() refuses; a score
/// outside 0..K if the config has values.
void advantages(const EstimatorConfig& config, int levels, std::span<const double> rewards, double median, std::span<double> out,
                double floor = 0);

/// The form odrpo by the Paper's equation: A_i = sum over k = 1..levels of Delta_k w_k (1[r_i >= k] - mu_k) / (N_k + eps), symbols as in
/// weights.hpp. A level that all or no members reach adds nothing. For other conventions see level_shares() in weights.hpp. O(levels G).
void odrpo_discrete(const EstimatorConfig& config, int levels, std::span<const double> rewards, double median, std::span<double> out);

/// The form odrpo-bitwise: A_i = sum over bits b of 2^b (bit_b(r_i - 1) - mu_b) / (N_b + eps). mu_b = share of the group with the bit; N_b
/// follows from it as N_k from mu_k in weights.hpp. A bit that all or no members have adds nothing. Rewards are integers 0..max_level; 0
/// has no bit. Throws Failure for other rewards.
void odrpo_bitwise(const EstimatorConfig& config, std::span<const double> rewards, std::span<double> out);

/// odrpo_discrete() extended to real rewards: A_i = integral of w(x) (1[r_i >= x] - mu(x)) / (N(x) + eps) dx, mu(x) = share of rewards >= x. The
/// weight w(x) is that of the level ceil(x), so integer rewards give odrpo_discrete(). For a group of one, x runs over (0, r]. O(G^2 + range).
void odrpo_continuous(const EstimatorConfig& config, std::span<const double> rewards, double median, std::span<double> out);

/// Sets t[s] and u[s] to what one level adds to a member's advantage, per unit of Delta_k, if s = 0..M-1 others reach it (M = `members`):
/// t[s] if the member reaches it too (so s+1 of M do), else u[s]. If all or none reach it, t[M-1] = u[0] = 0. `median`: see advantages().
void leave_one_out(const EstimatorConfig& config, int members, int level, double median, std::span<double> t, std::span<double> u);

/// Functions that break_down() of formula_text.hpp uses too. weight_median(): the median that the weight depends on; NaN if it depends on
/// none. weight_of_gap(): the integral of w dR over a gap (low, high], with R(x) = x if the config has no values. shares_of_gap(): what it adds.
/// For convex-reinforce it is U(high) - U(low), U(r) = sum of sqrt(k) over k <= r for an integer r, 0 for r <= 0. group_mean() is NaN
/// without values, group_deviation() for no more than ddof values. count_from(): number of rewards >= threshold. distinct_values():
/// ascending; for a group of one positive reward, 0 and that reward. are_levels(): true if all rewards are integers 0..levels.
double weight_median(const EstimatorConfig& config, std::span<const double> rewards, double median);
double weight_of_gap(const EstimatorConfig& config, double low, double high, int count, int group, double median);
LevelShares shares_of_gap(const EstimatorConfig& config, const LevelRule& rule, double low, double high, int count, int group, double median);
double group_mean(std::span<const double> values);
double group_deviation(std::span<const double> values, int ddof, double floor = 0);
int count_from(std::span<const double> rewards, double threshold);
std::vector<double> distinct_values(std::span<const double> rewards);
bool are_levels(std::span<const double> rewards, int levels);

/// Whitens the advantages of a whole batch in place as `w` says. Advantages with mask = 0 take no part and become 0; an empty mask lets all
/// take part. If all that take part are equal (or only one does), they become 0. If `w` is off, only the mask is applied. If `w` counts
/// tokens, advantage i counts tokens[i] times (empty = once), and takes no part at 0.
void whiten_definition(const Whitening& w, std::span<double> advantages, std::span<const std::uint8_t> mask = {},
                       std::span<const int> tokens = {});

/// Batch normalisation, applied after the sum over levels: (A - mean) / (sigma + eps) in place, sigma with ddof 0 or 1 over the batch.
void batch_normalize(std::span<double> advantages, int ddof, double eps);

}  // namespace odrpo
