// The exact update field of an estimator on the simplex, and its curl.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "estimators/theory/setting.hpp"

namespace odrpo {

/// Elementary steps that one exact answer may take: some seconds.
inline constexpr double most_theory_work = 1e9;
/// The steps of a sum over the histograms of so many members, `each` at one. Failure(Exit::limits) where they are too many.
double check_histogram_work(int levels, int members, double each);

/// F_k(p) = dh/dp_k = E_{s ~ Multi(M-1, p)} f_k(s): the expected advantage of a member at level k. p >= 0 has the sum 1 and one entry for
/// each level. Sums over all C(M+K-2, K-1) histograms of companions; Failure(Exit::limits) where they would take too long, and for what
/// theory_refusal() refuses.
std::vector<double> update_field(const TheorySetting& setting, std::span<const double> p);

/// Cosine of the field with grad E[r] = R in the tangent space of the simplex, where a common offset of all levels is nothing; NaN where
/// the field vanishes.
double field_cosine(std::span<const double> field, std::span<const double> values);

/// The field around the triangle of three levels whose corners are (1-2e, e, e), (e, 1-2e, e) and (e, e, 1-2e), 0 < e < 1/3. A gradient
/// has no circulation.
struct Circulation {
  double along = 0;         ///< |integral of F dl|
  double length = 0;        ///< integral of |F| dl, of what lies in the tangent space
  double least_cosine = 1;  ///< of field_cosine() on the loop
};
/// By the midpoint rule with loop_points points on an edge, whose error is of the order 1e-5. Of a setting with three levels. Failures as
/// update_field().
Circulation triangle_circulation(const TheorySetting& setting, double corner);
inline constexpr int loop_points = 400;

/// The paper's condition for a scalar objective, literally: C_ij(s) = f_i(s+e_j) - f_i(s+e_K) + f_j(s+e_K) - f_j(s+e_i) + f_K(s+e_i) -
/// f_K(s+e_j), s in S_(M-2), levels i, j from 0. By the definition of the estimator.
double curl_at(const TheorySetting& setting, std::span<const int> companions, int i, int j);

/// Mean absolute curl over s in S_(M-2): over all 1 <= i, j <= K, which the paper's quantifier says, and over i < j < K alone, which are
/// the values that can differ (C_ji = -C_ij, C_iK = 0). pairs is NaN for K = 2.
struct MeanCurl {
  double all = 0, pairs = 0;
  double histograms = 0;  ///< members of S_(M-2)
};
/// By C_ij = D_ij + D_jK + D_Ki, D_ab = A_a - A_b inside the group s + e_a + e_b. Failures as update_field().
MeanCurl mean_absolute_curl(const TheorySetting& setting);
/// Elementary steps that it takes; its failures.
double mean_curl_work(const TheorySetting& setting);

/// The curl of the field in p at p: (M-1) E_{s ~ Multi(M-2, p)} C_ij(s), [K][K]; antisymmetric, last row and column 0. Failures as
/// update_field().
std::vector<double> field_curl(const TheorySetting& setting, std::span<const double> p);

/// |antisymmetric part| / |Jacobian| at p, Frobenius norms, of the Jacobian dF_i / dp_j in the tangent space of the simplex: of C J C with
/// C = I - 11'/K, so that no level is singled out. 0 of a gradient, at most 1; NaN where nothing changes. Failures as update_field().
double relative_curl(const TheorySetting& setting, std::span<const double> p);

}  // namespace odrpo
