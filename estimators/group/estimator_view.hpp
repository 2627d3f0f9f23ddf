// EstimatorView: an estimator as data, for any processor.
#pragma once
#include "estimators/estimator.hpp"
#include "estimators/weights.hpp"

namespace odrpo {

/// What a level gives that so many of a group reach.
struct LevelCount {
  LevelShares shares;   ///< per unit of weight
  double fixed, slope;  ///< level_mix = fixed + slope decay
};

/// An estimator as data, for any processor. The tables belong to a BatchEstimator; all else is a copy.
struct EstimatorView {
  Form form;
  Basis basis;
  Centre centre;
  Divisor divisor;
  Weight weight;
  MedianRule median;
  int levels, rollouts, ddof;
  double eps;          ///< of ranks twice the eps, because ranks are counted twice
  double floor;        ///< squared, of posterior scores (floor_squared()), which are no whole scores; 0 elsewhere
  int shift;           ///< subtracted from every reward (maxrl with origin 0: 1)
  bool guard;          ///< a mean <= 0 gives zeros
  bool spaced;         ///< levels have values of their own: `term` and `along` have them inside, Basis::reward is given them as rewards
  bool lone;           ///< a group of one gets something …
  double lone_factor;  ///< … which is its reward times this
  LevelRule rule;      ///< Basis::level and Basis::bit

  // Basis::level, whole scores. (Basis::bit: `term` is [bit][rollouts+1][2]: what a bit that `count` have gives to those, and to others)
  const float* term;             ///< [class][levels+1][rollouts+1][2]: level_term() of a level that `count` of G reach; 0 at dead levels
  int class_size;                ///< 2 (levels+1)(rollouts+1); 0 when the terms do not depend on the group's median
  int lower_reach, upper_reach;  ///< a median is the number of levels that at least so many members reach; 0 = not used
  // Basis::level, real rewards
  double running;            ///< the median of rule `running`
  const double* along;       ///< [4][levels + 2]: step and running sum of the weights' shape times Delta_k, then of that times e^(k/2)
  const LevelCount* counts;  ///< [rollouts + 1] for groups of the usual size
};

}  // namespace odrpo
