// Estimators on a batch of groups of integer scores: tables made once per run in double, then one pass in float per step.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "estimators/compat.hpp"
#include "estimators/estimator.hpp"
#include "estimators/real.hpp"
#include "kernels/group_table.hpp"
#include "kernels/isa.hpp"
#include "kernels/no_score.hpp"

namespace odrpo {

/// Which pass of the batch form an estimator takes.
enum class Pass {
  ordinal,   ///< A_i = P(r_i) - C, P(r) = sum over live levels k <= r of term[k][count_k], C = sum over all of centre[k][count_k]: the
             ///< same bits whatever the order of the members
  cardinal,  ///< A_i = (G r_i - sum r) * inverse, from exact integer sums
  rank,      ///< z-score of average ranks, from exact integer ranks
};

/// Plain view of an estimator's tables for the stage files.
struct EstimatorView {
  Form form;
  int levels, rollouts, ddof;
  float eps;
  const float* term;  ///< [class][levels+1][rollouts+1][2]: what a level that `count` of G reach gives those that reach it more than the
                      ///< others; and what all give up for it, which is less what missing it gives. As a rule w_k / (N_k + eps) and that
                      ///< times count / G (LevelShares of weights.hpp says it for every convention). 0 at dead levels
  int class_size;     ///< 2 (levels+1)(rollouts+1), 0 when the terms do not depend on the group's median
  int lower_reach, upper_reach;  ///< a median is the number of levels that at least so many members reach; 0 = not used
  int shift;                     ///< maxrl: subtracted from every score (1 for origin 0)
  bool guard;                    ///< maxrl: a mean <= 0 gives zeros
  bool others;                   ///< grpo: mean and deviation of the other members
};

/// What the levels from..to give: fills value[0..to-from+1], what they give a member that reaches none, the first, the first two, … of
/// them, before what all give up for them, which is returned. at(k) = (term, centre) of level k.
template <class At>
inline float half_values(int from, int to, At at, float* value) {
  float sum = 0, centre = 0;
  value[0] = 0;
  for (int k = from; k <= to; ++k) {
    sum += at(k)[0];
    centre += at(k)[1];
    value[k - from + 1] = sum;
  }
  return centre;
}

struct EstimatorStages {
  /// out[group][G] advantages of score[group][G], scores 0..K.
  void (*ordinal)(const EstimatorView&, const std::uint8_t* score, int groups, float* out);
  void (*cardinal)(const EstimatorView&, const std::uint8_t* score, int groups, float* out);
  void (*rank)(const EstimatorView&, const std::uint8_t* score, int groups, float* out);
  /// Whitens n advantages in place: (A - mean) / scale over all; zeros when all are equal. `kept` (null = all): those with 0 have no part
  /// in it and become 0.
  void (*whiten)(const Whitening&, float* advantage, const std::uint8_t* kept, int n);
};
const EstimatorStages& estimator_stages(Isa isa);

/// EstimatorStages::whiten over tokens: advantage i counts tokens[i] times, and has no part where that is 0.
void whiten_tokens(const Whitening& w, float* advantage, const std::uint8_t* kept, const int* tokens, int n);

/// Does the estimator read a median of earlier batches?
inline bool reads_running_median(const EstimatorConfig& c) {
  return c.form == Form::odrpo && c.weight == Weight::gini_median && c.median == MedianRule::running;
}

/// One estimator made ready for groups of `rollouts` scores on 0..levels. The definition is advantages() of estimators/definition.hpp.
class BatchEstimator {
 public:
  /// `rollouts` 1..most_rollouts, `levels` up to 100. Throws Failure as convention_of().
  BatchEstimator(const EstimatorConfig& config, int levels, int rollouts);
  /// Sets the median of rule `running` and remakes the terms; O(levels rollouts). Only when needs_median().
  void set_median(double median);
  bool needs_median() const { return reads_running_median(config_); }
  /// Says that about so many groups will be estimated. Where it pays (many more groups than a group of 8 or 16 has histograms on so few
  /// levels, no running median) a table of every histogram's advantages is made here, and the operator looks up: a row a group, the same
  /// bits.
  void expect(double groups, Isa isa);
  /// Bytes that one takes, with the table it may get; copies share all but a few of them.
  static double bytes(const EstimatorConfig& config, int levels, int rollouts);
  bool tabulated() const { return look_up_ != nullptr; }
  /// What the passes read, for another processor: valid until set_median() or the estimator's end.
  Pass pass() const { return pass_; }
  EstimatorView view() const;
  std::span<const float> terms() const { return *term_; }
  /// What real() and groups with gaps take.
  const RealEstimator& of_reals() const { return real_; }
  /// Advantages of `groups` groups, [group][rollouts]. None of the three forms allocates.
  void operator()(const EstimatorStages& stages, const std::uint8_t* score, int groups, float* out) const;
  /// The same where scores may be missing (no_score): each group is estimated from the scores it has, as a group of that size; the missing
  /// get 0. Groups without gaps get the same bits as from the operator.
  void with_gaps(const EstimatorStages& stages, const std::uint8_t* score, int groups, float* out) const;
  /// Real rewards in 0..levels, NaN = missing: the continuous form of the definition, in double.
  void real(const float* reward, int groups, float* out) const;

 private:
  void fill_terms(double median, float* term) const;
  void passes(const EstimatorStages& stages, const std::uint8_t* score, int groups, float* out) const;
  void some(const std::uint8_t* score, float* out) const;
  EstimatorConfig config_;
  int levels_, rollouts_;
  Pass pass_;
  std::shared_ptr<std::vector<float>> term_;  // copies share it until one sets its own median
  EstimatorView view_{};
  std::shared_ptr<const HalvesTable> halves_;         // where levels add up
  std::shared_ptr<const HistogramTable> histograms_;  // elsewhere
  const GroupTableStages* look_up_ = nullptr;
  RealEstimator real_;
};

/// Shares of a batch that teach nothing: groups whose scores are all equal, and levels that nobody or everybody of a group reaches, among
/// lowest+1..K. Missing scores are left out; a group without any is dead.
struct DeadShares {
  double groups, levels;
};
DeadShares dead_shares(const std::uint8_t* score, int groups, int rollouts, int levels, int lowest = 1);
DeadShares dead_shares(const float* reward, int groups, int rollouts, int levels, int lowest = 1);

/// kept[group][G] = 1 for rollouts that take part in whitening and in the gradient: those with a score, and, when `drop_dead`, of a group
/// whose scores are not all equal. Returns how many.
int mark_kept(const std::uint8_t* score, int groups, int rollouts, bool drop_dead, std::uint8_t* kept);
int mark_kept(const float* reward, int groups, int rollouts, bool drop_dead, std::uint8_t* kept);

}  // namespace odrpo
