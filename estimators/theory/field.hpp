// Computes the exact update field of an estimator on the simplex of level probabilities, its curl and its scalar objective; also the field
// for scores from a noisy judge (channel_field.cpp).
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "estimators/theory/setting.hpp"
#include "kernels/shared/judge_model.hpp"

namespace odrpo {

/// The most elementary steps that one exact computation may take; they need some seconds.
inline constexpr double most_theory_work = 1e9;
/// Returns the estimated steps of a sum over all histograms of `members` scores, at `each` steps per histogram. Throws
/// Failure(Exit::limits) if they are more than most_theory_work.
double check_histogram_work(int levels, int members, double each);

// Notation: K levels, groups of M members, p_k = probability of level k (sum 1). s = histogram of the other members' levels, drawn from the
// multinomial Multi(M-1, p); S_n = all histograms of n members. f_k(s) = advantage of a member at level k beside others with histogram s.

/// The field F_k(p) = E_{s ~ Multi(M-1, p)} f_k(s): the expected advantage of a member at level k, and dJ/dp_k if there is a scalar objective J.
/// Sums over all C(M+K-2, K-1) histograms s. Throws Failure(Exit::limits) if that would take too long, or if theory_refusal() refuses the setting.
std::vector<double> update_field(const TheorySetting& setting, std::span<const double> p);

/// Cosine of the field F with grad E[r] = R (the values of the levels). Both are taken in the tangent space of the simplex, where a common
/// offset of all levels vanishes. NaN if the field vanishes.
double field_cosine(std::span<const double> field, std::span<const double> values);

/// Integrals of the field along a closed triangle in the simplex of three levels. Its corners are (1-2e, e, e), (e, 1-2e, e) and
/// (e, e, 1-2e), 0 < e < 1/3. For a gradient field, `along` is 0.
struct Circulation {
  double along = 0;         ///< |integral of F dl|
  double length = 0;        ///< integral of |F| dl, F in the tangent space
  double least_cosine = 1;  ///< the smallest field_cosine() on the triangle
};
/// Computes the Circulation for e = `corner` by the midpoint rule with loop_points points per edge; its error is of the order 1e-5. For
/// three levels. Throws as update_field().
Circulation triangle_circulation(const TheorySetting& setting, double corner);
inline constexpr int loop_points = 400;

/// The paper's curl, literally: C_ij(s) = f_i(s+e_j) - f_i(s+e_K) + f_j(s+e_K) - f_j(s+e_i) + f_K(s+e_i) - f_K(s+e_j), s in S_(M-2), e_j =
/// one member at level j. A scalar objective exists if it is 0 everywhere. i and j count from 0. Uses the estimator's definition.
double curl_at(const TheorySetting& setting, std::span<const int> others, int i, int j);

/// Mean of |C_ij(s)| over s in S_(M-2). `all`: over all 1 <= i, j <= K, as the paper defines it. `pairs`: over i < j < K alone, which
/// determine all others (C_ji = -C_ij, C_iK = 0); NaN for K = 2.
struct MeanCurl {
  double all = 0, pairs = 0;
  double histograms = 0;  ///< number of histograms in S_(M-2)
};
/// Computes it by C_ij = D_ij + D_jK + D_Ki, D_ab = A_a - A_b, A_k = advantage of level k in the group s + e_a + e_b. Throws as update_field().
MeanCurl mean_absolute_curl(const TheorySetting& setting);
/// Estimated elementary steps of mean_absolute_curl(). Throws as mean_absolute_curl().
double mean_curl_work(const TheorySetting& setting);

/// The curl of the field at p, as a matrix [K][K]: (M-1) E_{s ~ Multi(M-2, p)} C_ij(s). It is antisymmetric, and its last row and column
/// are 0. Throws as update_field().
std::vector<double> field_curl(const TheorySetting& setting, std::span<const double> p);

/// |antisymmetric part of J| / |J| at p, Frobenius norms, J = C (dF_i / dp_j) C: the Jacobian in the tangent space of the simplex. C = I -
/// 11'/K treats all levels alike. The result is 0 for a gradient field, at most 1, and NaN if J = 0. Throws as update_field().
double relative_curl(const TheorySetting& setting, std::span<const double> p);

// The update field if scores come from a noisy judge: what the channel, P(score | true level), does to mean, bias and noise of gradients.

/// True levels 1..K are drawn from p; the estimator gets scores 1..K. The policy has one logit for each level. So one group gives the
/// gradient g_j = (1/M) sum over its members i of A_i (1[level of i = j] - p_j). Members are independent given p and the kind of their
/// common prompt.
struct ChannelField {
  std::vector<double> field;       ///< [levels] F_j: expected advantage of a member whose true level is j
  std::vector<double> bias;        ///< [levels] F_j - mean of F under p, less the same difference of the field for exact scores
  std::vector<double> gradient;    ///< [levels] E g_j = p_j (F_j - sum over i of p_i F_i)
  std::vector<double> covariance;  ///< [levels][levels] of one group's g
  std::vector<double> snr;         ///< [levels] (E g_j)^2 / Var g_j; NaN if g_j does not vary
  std::vector<double> flips;       ///< [levels] P(a lower true level has the higher expected advantage); NaN if p has no lower level
  double all_snr = 0;              ///< |E g|^2 / trace of the covariance; NaN if g does not vary
  double all_flips = 0;            ///< P(the lower of two different levels drawn from p has the higher expected advantage)
  double cosine = 0;               ///< of E g with the gradient of the expected value sum_j p_j R_j; NaN if either vanishes
};

/// Computes the ChannelField for a mixture of kinds of prompts, whose weights have the sum 1. Flips: given the kind and the others' scores,
/// a member at true level j expects a_j = sum over k of P(k | j) f_k. A lower level i, drawn with weight p_i, counts as a flip if a_i > a_j
/// by more than rounding. Sums over kinds and all histograms of scores. A corrected estimator corrects scores for the mean channel of the
/// kinds, and the field for exact scores is that of its form. Throws as update_field() before it sums anything, and for scores that
/// correction_refusal() refuses.
ChannelField channel_field(const TheorySetting& setting, std::span<const double> p, std::span<const LevelChannel> kinds);
/// Estimated elementary steps of channel_field(). Throws as channel_field().
double channel_field_work(const TheorySetting& setting, std::size_t kinds);

// The scalar objective that an estimator's update field climbs, if there is one. It is a sum of one potential per level, for finite groups
// or in the limit of large groups.

/// The reason why a setting has no scalar objective J with grad J = F; nullopt if it has one. reinforce and rloo have one, and so have sums
/// over levels (or bits) of functions of (k, mu_k) alone, mu_k = share of the group at k or above. `median`: a constant in place of the
/// group's median, as a running median is inside a batch; no_median = the group's.
std::optional<std::string> objective_refusal(const EstimatorConfig& config, int members, double median);

/// The potential of a level: H_k(P) = (1/M) sum over x = 0..M-1 of (t_k(x) - u_k(x)) Pr(Bin(M, P) > x). P = `reach` = Pr(score >= k); t_k
/// and u_k come from leave_one_out() of definition.hpp. Its slope is E[t_k(x) - u_k(x)], x ~ Bin(M-1, P). Of a bit: per unit of its weight
/// 2^b, P = Pr(the score has the bit). Throws Failure if objective_refusal() refuses.
double level_potential(const EstimatorConfig& config, int level, int members, double median, double reach);

/// The limit of level_potential() for M -> infinity, up to a constant, of odrpo without eps under `paper`. Uniform weight: 2 asin(sqrt P)
/// (norm grpo) or log P (maxrl). Linear weight: k times these. Gini weights, with d = 1 or, for gini-median, d = exp(-max(Med - k, 0) / 2):
/// sqrt(k) ((0.2 + d) asin(sqrt P) - d sqrt(P(1-P)) (1 - 2P)) or sqrt(k) (0.1 log P + d (4P - 2P^2)). It is -infinity for log 0.
double limit_potential(const EstimatorConfig& config, int level, double median, double reach);
/// The reason why limit_potential() has no formula for a config; nullopt if it has one.
std::optional<std::string> limit_refusal(const EstimatorConfig& config, double median);

/// The objective J = sum over m = 2..K of (R_m - R_(m-1)) H_m(P_m), H = level_potential(), reach[m-2] = P_m; by bits J = sum over b of 2^b
/// H(Q_b), Q_b = Pr(r - 1 has the bit b). `members` = 0 takes limit_potential() for H.
double objective(const EstimatorConfig& config, std::span<const double> values, int members, double median, std::span<const double> reach);

/// The paper's objective, (2/pi) sum over m of Delta_m asin(sqrt P_m): 1/pi times the limit objective of odrpo(grpo) with uniform weight.
double paper_objective(std::span<const double> values, std::span<const double> reach);

/// reach[m-2] = P_m = p_m + .. + p_K for m = 2..K: the probability of level m or above.
std::vector<double> reach_of(std::span<const double> p);

}  // namespace odrpo
