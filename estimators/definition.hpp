// The definition of every estimator: scalar, obvious, in double. The faster rungs are tested against this one.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "estimators/compat.hpp"
#include "estimators/estimator.hpp"

namespace odrpo {

inline constexpr double no_median = std::numeric_limits<double>::quiet_NaN();

/// Rewards above this are refused where a sum over their levels is needed (weighted continuous odrpo, convex-reinforce).
inline constexpr double max_level = 1e6;

/// The median of `values` by rule lower, mid or upper (NaN when empty). Throws Failure for MedianRule::running, which is
/// not a function of one group.
double group_median(std::span<const double> values, MedianRule rule);

/// Advantages of one group: rewards[G] to out[G], any form under any convention (docs/estimators.md). Where the config has values, rewards
/// are scores 0..K on their levels, and `levels` is K whatever is given; a score counts as its value, a level as Delta_k. A group whose
/// rewards are all equal (tested by max == min) gives exact zeros; a group of one gives what its convention says. odrpo takes the sum over
/// levels 1..levels when every reward is an integer in 0..levels, the continuous extension otherwise. `median` overrides the group's own
/// median in the weight gini-median (no_median = use config.median; the rule `running` needs it). Throws Failure for a missing median,
/// rewards above max_level or not finite, levels below 1, an `out` of another size than `rewards`, a posterior estimator, a config that
/// compat_refusal() or values_refusal() refuses, or a score outside of 0..K beside values. `floor` = floor_squared() of a posterior
/// estimator whose form this is: a deviation D of rewards with ddof d becomes sqrt(D^2 + floor n / (n - d)), over n members; MAD of mc-grpo
/// sqrt(MAD^2 + floor).
void advantages(const EstimatorConfig& config, int levels, std::span<const double> rewards, double median, std::span<double> out,
                double floor = 0);

/// Paper eq. of ODRPO, literally: A_i = sum over k = 1..levels of Delta_k w_k (1[r_i >= k] - mu_k) / (N_k + eps) (level_shares() of
/// weights.hpp, which knows the conventions); a level that nobody or everybody reaches adds nothing. O(levels G).
void odrpo_discrete(const EstimatorConfig& config, int levels, std::span<const double> rewards, double median, std::span<double> out);

/// By bits: A_i = sum over bits b of 2^b (bit_b(r_i - 1) - mu_b) / (N_b + eps), mu_b = share of the group with the bit, N_b as a level's
/// normaliser; a bit that nobody or everybody has adds nothing. Rewards are whole numbers 0..max_level, and 0 has no bit, as 1. Throws
/// Failure for others.
void odrpo_bitwise(const EstimatorConfig& config, std::span<const double> rewards, std::span<double> out);

/// Its extension to real rewards: A_i = integral of w(x) (1[r_i >= x] - mu(x)) / (N(x) + eps) dx, with w at the level ceil(x), so that
/// integers give the discrete form. A group of one has the gap (0, r]. O(G^2 + range).
void odrpo_continuous(const EstimatorConfig& config, std::span<const double> rewards, double median, std::span<double> out);

/// The two values a member can get from one level, per unit of Delta_k, when s of the other M - 1 members reach it, s = 0..M-1:
/// t[s] if it reaches the level itself (then s+1 of M do), u[s] if not. t[M-1] = u[0] = 0: a dead level. `median` as above.
void leave_one_out(const EstimatorConfig& config, int members, int level, double median, std::span<double> t, std::span<double> u);

/// The parts of the definition, which break_down() shares: the median that the weight reads (NaN for those that read none); w_k; the
/// integral of w dR over a gap (low, high], R(x) = x where the config has no values (of convex-reinforce U(high) - U(low), U(r) = sum of
/// sqrt(k) over k <= r for an integer r, 0 for r <= 0); the mean and standard deviation of a group (NaN for no more than ddof values);
/// members with at least a threshold; the distinct rewards in order, after a 0 for a group of one positive reward; whether all rewards are
/// whole levels 0..levels.
double weight_median(const EstimatorConfig& config, std::span<const double> rewards, double median);
double weight_of_level(const EstimatorConfig& config, double level, int count, int group, double median);
double weight_of_gap(const EstimatorConfig& config, double low, double high, int count, int group, double median);
double group_mean(std::span<const double> values);
double group_deviation(std::span<const double> values, int ddof, double floor = 0);
int count_from(std::span<const double> rewards, double threshold);
std::vector<double> distinct_values(std::span<const double> rewards);
bool are_levels(std::span<const double> rewards, int levels);

/// Whitens the advantages of a whole batch in place as `w` says; those with mask = 0 have no part in it and become 0 (empty = all take
/// part). Zeros when all that take part are equal, so also when they are fewer than two. When `w` is off only the masking is done. Over
/// tokens it is literally that: advantage i stands tokens[i] times among those that are whitened (empty = once), and where that is 0 times
/// it has no part.
void whiten_definition(const Whitening& w, std::span<double> advantages, std::span<const std::uint8_t> mask = {},
                       std::span<const int> tokens = {});

/// The same with the scale sigma + eps, sigma with ddof 0 or 1 over all (batch normalisation, after accumulation over levels).
void batch_normalize(std::span<double> advantages, int ddof, double eps);

}  // namespace odrpo
