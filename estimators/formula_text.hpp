// Writes the formulas of estimators and of whitening as text, with the numbers of their convention, for tables and `list`. Splits the
// advantages of one group into what each level adds, for `explain`.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "estimators/compat.hpp"
#include "estimators/estimator.hpp"

namespace odrpo {

/// An estimator's formula and convention in one line, as tables print it under their numbers. Throws Failure for a config that
/// compat_refusal() refuses.
std::string estimator_formula(const EstimatorConfig& config);

/// The advantage of a group of one as text: "0", "r", "(sum of w_k over k <= r) / 1e-06". Throws as convention_of().
std::string single_text(const EstimatorConfig& config);

/// The formula of a whitening as text: "nothing", or "(A - mean) / (std + 1e-04), ddof 1, over responses". Printed after an
/// estimator_formula().
std::string whitening_text(const Whitening& whitening);

// Advantages of one group, split by level.

/// What one term of the sum for an advantage adds. The term is a level k of integer rewards, a gap (low, high] between neighbouring real
/// rewards, or a bit b of r - 1. A group of one has a gap from 0. A bit has low = b - 1, high = b; to reach it means to have it.
struct LevelPart {
  double low, high;  ///< the levels (low, high]; high - low = 1 for integers
  double gap;        ///< how much more `high` is worth than `low`: R(high) - R(low); high - low if the config has no values
  int count;         ///< members whose reward reaches it
  double share;      ///< mu_k = count / G
  double weight;     ///< bit: 2^b; level: w_k (convex-reinforce: sqrt(k)); gap: average of w over R; 0 if all or none reach it
  double norm;       ///< what the centred indicator is divided by, eps included; NaN if all or none reach it, if it differs between
                     ///< members, or if the indicator is not centred (max-at-k); infinity where a divisor makes the term 0
  double reached, missed;  ///< what the whole term adds to a member that reaches it, and to one that does not; 0 if all or none do
};

struct Breakdown {
  std::vector<LevelPart> levels;   ///< terms of forms that sum over levels or bits, from the lowest; empty for other forms
  double mean;                     ///< mean of the rewards, or of their `values` if the config has some; NaN without rewards
  double deviation;                ///< that of the rewards or their values, with ddof and floor; NaN where it is not the form's divisor
  double median;                   ///< the median on which the weight depends; NaN if it depends on none
  std::vector<double> advantages;  ///< [G], equal to advantages() of estimators/definition.hpp and to the sums over `levels`
};

/// Splits the advantages of one group by level; arguments and errors as advantages().
Breakdown break_down(const EstimatorConfig& config, int levels, std::span<const double> rewards, double median, double floor = 0);

}  // namespace odrpo
