// Computes the exact update field of an estimator on the simplex, its curl and its scalar objective; also for scores from a judge
// (channel_field.cpp).
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "estimators/theory/setting.hpp"
#include "kernels/shared/judge_model.hpp"

namespace odrpo {

/// Elementary steps that one exact answer may take: some seconds.
inline constexpr double most_theory_work = 1e9;
/// The steps of a sum over the histograms of `members`, each of which takes `each` steps. Failure(Exit::limits) where they are too many.
double check_histogram_work(int levels, int members, double each);

/// F_k(p) = dh/dp_k = E_{s ~ Multi(M-1, p)} f_k(s): the expected advantage of a member at level k. The p_k >= 0 of all levels have the sum
/// 1. Sums over all C(M+K-2, K-1) histograms of others. Failure(Exit::limits) where they would take too long, and for what
/// theory_refusal() refuses.
std::vector<double> update_field(const TheorySetting& setting, std::span<const double> p);

/// Cosine of the field with grad E[r] = R in the tangent space of the simplex, where a common offset of all levels vanishes; NaN where the
/// field vanishes.
double field_cosine(std::span<const double> field, std::span<const double> values);

/// The field around the triangle of three levels whose corners are (1-2e, e, e), (e, 1-2e, e) and (e, e, 1-2e), 0 < e < 1/3. A gradient
/// has no circulation.
struct Circulation {
  double along = 0;         ///< |integral of F dl|
  double length = 0;        ///< integral of |F| dl, of what lies in the tangent space
  double least_cosine = 1;  ///< of field_cosine() on the loop
};
/// By the midpoint rule with loop_points points on an edge, whose error is of the order 1e-5. For settings with three levels. Failures as
/// update_field().
Circulation triangle_circulation(const TheorySetting& setting, double corner);
inline constexpr int loop_points = 400;

/// The paper's condition for a scalar objective, literally: C_ij(s) = f_i(s+e_j) - f_i(s+e_K) + f_j(s+e_K) - f_j(s+e_i) + f_K(s+e_i) -
/// f_K(s+e_j), s in S_(M-2), levels i, j from 0. By the definition of the estimator.
double curl_at(const TheorySetting& setting, std::span<const int> others, int i, int j);

/// Mean absolute curl over s in S_(M-2). `all`: over all 1 <= i, j <= K, which the paper's quantifier says. `pairs`: over i < j < K alone,
/// the values that can differ (C_ji = -C_ij, C_iK = 0); NaN for K = 2.
struct MeanCurl {
  double all = 0, pairs = 0;
  double histograms = 0;  ///< members of S_(M-2)
};
/// By C_ij = D_ij + D_jK + D_Ki, D_ab = A_a - A_b inside the group s + e_a + e_b. Failures as update_field().
MeanCurl mean_absolute_curl(const TheorySetting& setting);
/// Elementary steps of mean_absolute_curl(), with its failures.
double mean_curl_work(const TheorySetting& setting);

/// The curl of the field in p at p: (M-1) E_{s ~ Multi(M-2, p)} C_ij(s), [K][K]; antisymmetric, last row and column 0. Failures as
/// update_field().
std::vector<double> field_curl(const TheorySetting& setting, std::span<const double> p);

/// |antisymmetric part| / |Jacobian| at p, Frobenius norms. The Jacobian dF_i / dp_j is in the tangent space of the simplex: C J C with
/// C = I - 11'/K, so that no level is singled out. 0 of a gradient, at most 1; NaN where nothing changes. Failures as update_field().
double relative_curl(const TheorySetting& setting, std::span<const double> p);

// The update field of groups whose scores come from a judge: what a channel of scores does to expectation, bias and noise of the gradient.

/// True levels 1..K are drawn from p; the estimator sees scores 1..K. The policy has one logit for each level. So one group gives the
/// gradient g_j = (1/M) sum over its members i of A_i (1[level of i = j] - p_j). Members are independent given p and the kind of their
/// prompt, which all share.
struct ChannelField {
  std::vector<double> field;       ///< [levels] F_j: expected advantage of a member whose true level is j
  std::vector<double> bias;        ///< [levels] F_j less that of exact scores, each less its mean under p, which moves nothing
  std::vector<double> gradient;    ///< [levels] E g_j = p_j (F_j - sum over i of p_i F_i)
  std::vector<double> covariance;  ///< [levels][levels] of one group's g
  std::vector<double> snr;         ///< [levels] (E g_j)^2 / Var g_j; NaN where nothing varies
  std::vector<double> flips;       ///< [levels] P(a lower true level has the higher expected advantage); NaN where none is lower
  double all_snr = 0;              ///< |E g|^2 / trace of the covariance; NaN where nothing varies
  double all_flips = 0;            ///< of two levels drawn from p that differ
  double cosine = 0;               ///< of E g with the gradient of the expected value sum_j p_j R_j; NaN where either vanishes
};

/// The kinds of prompts have weights of sum 1. Flips: given the kind and the scores of the M - 1 others, a member at true level j expects
/// a_j = sum over k of P(k | j) f_k. A level i < j, drawn with weight p_i, is above where a_i > a_j by more than rounding. Sums over kinds
/// and all histograms of scores. Failure `limits` as update_field(), before anything is summed.
ChannelField channel_field(const TheorySetting& setting, std::span<const double> p, std::span<const LevelChannel> kinds);
/// Elementary steps of channel_field(), with its failures.
double channel_field_work(const TheorySetting& setting, std::size_t kinds);

// The scalar objective that an estimator's update field climbs, where there is one: potentials of levels, finite groups and their limit.

/// Why a setting has no scalar objective J with grad J = F; nothing where it has one. It has one where the advantage is a sum over levels
/// (or bits) of functions of (k, mu_k) alone, and for reinforce and rloo. `median`: a constant in place of the group's (no_median = the
/// group's), as a running median is inside a batch.
std::optional<std::string> objective_refusal(const EstimatorConfig& config, int members, double median);

/// H_k(P) = (1/M) sum over x = 0..M-1 of (t_k(x) - u_k(x)) Pr(Bin(M, P) > x), P = Pr(score >= k). Its slope is
/// E[t_k(S) - u_k(S)], S ~ Bin(M-1, P). Of a bit: per unit of its weight 2^b, P = Pr(the score has the bit). Throws for what
/// objective_refusal() refuses.
double level_potential(const EstimatorConfig& config, int level, int members, double median, double reach);

/// Its limit M -> infinity up to a constant, of odrpo without eps under `paper`. Uniform weight: 2 asin(sqrt P) (norm grpo) or log P
/// (maxrl). Linear weight: k times that. Gini weights, with d = 1 or, for gini-median, d = exp(-max(Med - k, 0) / 2):
/// sqrt(k) ((0.2 + d) asin(sqrt P) - d sqrt(P(1-P)) (1 - 2P)) or sqrt(k) (0.1 log P + d (4P - 2P^2)). It is -infinity for log 0.
double limit_potential(const EstimatorConfig& config, int level, double median, double reach);
/// Why there is no such formula; nothing where there is one.
std::optional<std::string> limit_refusal(const EstimatorConfig& config, double median);

/// J = sum over m = 2..K of (R_m - R_(m-1)) H_m(P_m); by bits J = sum over b of 2^b H(Q_b), Q_b = Pr(r - 1 has the bit b). reach[m-2] =
/// P_m. `members` 0 = the limit.
double objective(const EstimatorConfig& config, std::span<const double> values, int members, double median, std::span<const double> reach);

/// The same with the paper's constant: (2/pi) sum over m of Delta_m asin(sqrt P_m), which is the limit of uniform odrpo(grpo) over pi.
double paper_objective(std::span<const double> values, std::span<const double> reach);

/// P_m = p_m + .. + p_K for m = 2..K.
std::vector<double> reach_of(std::span<const double> p);

}  // namespace odrpo
