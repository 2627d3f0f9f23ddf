// Estimators on a batch of groups of integer scores: tables made once per run in double, then one pass in float per step.
#pragma once
#include <cstdint>
#include <vector>

#include "estimators/estimator.hpp"
#include "kernels/isa.hpp"

namespace odrpo {

/// Which pass of the batch form an estimator takes.
enum class Pass {
  ordinal,   ///< A_i = P(r_i) - mean P, P(r) = sum over live levels k <= r of term[k][count_k]
  cardinal,  ///< A_i = (G r_i - sum r) * inverse, from exact integer sums
  rank,      ///< z-score of average ranks, from exact integer ranks
};

/// Plain view of an estimator's tables for the stage files.
struct EstimatorView {
  Form form;
  int levels, rollouts, ddof;
  float eps;
  const float* term;             ///< [class][levels+1][rollouts+1]: w_k / (N_k + eps) of a level that `count` of G reach; 0 at dead levels
  int class_size;                ///< (levels+1)(rollouts+1), 0 when the terms do not depend on the group's median
  int lower_reach, upper_reach;  ///< a median is the number of levels that at least so many members reach; 0 = not used
};

struct EstimatorStages {
  /// out[group][G] advantages of score[group][G], scores 1..K.
  void (*ordinal)(const EstimatorView&, const std::uint8_t* score, int groups, float* out);
  void (*cardinal)(const EstimatorView&, const std::uint8_t* score, int groups, float* out);
  void (*rank)(const EstimatorView&, const std::uint8_t* score, int groups, float* out);
  /// Whitens n advantages in place: (A - mean) / std over all, population std; zeros when all are equal.
  void (*whiten)(float* advantage, int n);
};
const EstimatorStages& estimator_stages(Isa isa);

/// One estimator made ready for groups of `rollouts` scores on 1..levels. The definition is advantages() of estimators/definition.hpp.
class BatchEstimator {
 public:
  BatchEstimator(const EstimatorConfig& config, int levels, int rollouts);
  /// Sets the median of rule `running` and remakes the terms; O(levels rollouts). Only when needs_median().
  void set_median(double median);
  bool needs_median() const {
    return config_.form == Form::odrpo && config_.weight == Weight::gini_median && config_.median == MedianRule::running;
  }
  /// Advantages of `groups` groups, [group][rollouts].
  void operator()(const EstimatorStages& stages, const std::uint8_t* score, int groups, float* out) const;

 private:
  void fill_terms(float* to, double median) const;
  EstimatorConfig config_;
  int levels_, rollouts_;
  Pass pass_;
  std::vector<float> term_;
  EstimatorView view_{};
};

/// Shares of a batch that teach nothing: groups whose scores are all equal, and levels 2..K that nobody or everybody of a group reaches.
struct DeadShares {
  double groups, levels;
};
DeadShares dead_shares(const std::uint8_t* score, int groups, int rollouts, int levels);

}  // namespace odrpo
