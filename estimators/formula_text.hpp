// Formulas of estimators and of whitening as text, with the numbers of their convention: what tables and `list` print; and an answer taken
// apart.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "estimators/compat.hpp"
#include "estimators/estimator.hpp"

namespace odrpo {

/// The formula and the conventions in one line, as tables print them under their numbers. Throws Failure for a config that
/// compat_refusal() refuses.
std::string estimator_formula(const EstimatorConfig& config);

/// What a group of one gets, for every form: "0", "r", "(sum of w_k over k <= r) / 1e-06". Throws as convention_of().
std::string single_text(const EstimatorConfig& config);

/// "nothing", or "(A - mean) / (std + 1e-04), ddof 1, over responses": as it stands behind an
/// estimator_formula().
std::string whitening_text(const Whitening& whitening);

// An estimator's answer for one group, taken apart level by level: what `explain` shows.

/// One level k (integers), one gap (low, high] between neighbouring rewards (real values; a group of one has the gap from 0), or one bit b
/// of r - 1: low = b - 1, high = b, and "reach" means to have the bit.
struct LevelPart {
  double low, high;  ///< the levels (low, high]; high - low = 1 for integers
  double gap;        ///< R(high) - R(low): Delta_k of a level k; high - low where the config has no values
  int count;         ///< members that reach it
  double share;      ///< mu_k = count / G
  double weight;     ///< 2^b; w_k (of a gap its average over R; convex-reinforce: sqrt(k)); 0 where the level is dead
  double norm;       ///< what the centred indicator is divided by, eps included; NaN where the level is dead, the norm differs between
                     ///< members, or the indicator is not centred (max-at-k); infinity where a live level gives nothing
  double reached, missed;  ///< what a member gets from the whole gap when it reaches it, and when not; 0 at dead levels
};

struct Breakdown {
  std::vector<LevelPart> levels;   ///< odrpo and convex-reinforce: levels from the lowest, or bits; empty for the other forms
  double mean;                     ///< of the rewards as given, or of their values; NaN for none
  double deviation;                ///< of the same, with the convention's ddof and the floor; NaN where the norm is no deviation of the group
  double median;                   ///< as the weight reads it; NaN where it reads none
  std::vector<double> advantages;  ///< [G], equal to advantages() of estimators/definition.hpp and to the sums over `levels`
};

/// Takes the advantages of one group apart; arguments and errors as advantages().
Breakdown break_down(const EstimatorConfig& config, int levels, std::span<const double> rewards, double median, double floor = 0);

}  // namespace odrpo
