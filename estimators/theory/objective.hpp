// The scalar objective that an estimator's update field climbs, where there is one: potentials of levels, finite groups and their limit.
#pragma once
#include <optional>
#include <span>
#include <string>

#include "estimators/theory/setting.hpp"

namespace odrpo {

/// Why a setting has no scalar objective J with grad J = F; nothing where it has one. There is one where the advantage is a sum over
/// levels (or bits) of functions of (k, mu_k) alone, and for reinforce and rloo. `median`: one that stays the same, in place of the group's
/// (no_median = the group's), as a running median does inside a batch.
std::optional<std::string> objective_refusal(const EstimatorConfig& config, int members, double median);

/// H_k(P) = (1/M) sum over x = 0..M-1 of (t_k(x) - u_k(x)) Pr(Bin(M, P) > x), P = Pr(score >= k): its slope is
/// E[t_k(S) - u_k(S)], S ~ Bin(M-1, P). Of a bit, per unit of its weight 2^b, P = Pr(the score has the bit). For configs and medians that
/// objective_refusal() does not refuse.
double level_potential(const EstimatorConfig& config, int level, int members, double median, double reach);

/// Its limit M -> infinity up to a constant, of odrpo without eps under `paper`: 2 asin(sqrt P) (norm grpo) or log P (maxrl) for the
/// uniform weight, times k for linear. With the Gini weights, whose d = 1 or exp(-max(Med - k, 0) / 2): sqrt(k) ((0.2 + d) asin(sqrt P)
/// - d sqrt(P(1-P)) (1 - 2P)) or sqrt(k) (0.1 log P + d (4P - 2P^2)). -infinity for log 0.
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
