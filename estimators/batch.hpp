// Estimators on a batch of groups: tables made once per run in double, then one pass per step, in float for integer scores; and whitening.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "estimators/compat.hpp"
#include "estimators/estimator.hpp"
#include "estimators/group/entries.hpp"
#include "kernels/group_table.hpp"
#include "kernels/isa.hpp"
#include "kernels/math.hpp"
#include "kernels/shared/judge_model.hpp"

namespace odrpo {

/// Largest group of every form; and of forms of levels, whose groups may hold several votes of each response.
inline constexpr int most_rollouts = 255, most_scores = 4096;

struct EstimatorStages {
  /// out[group][G] advantages of score[group][G], scores 0..K, none missing, G >= 2.
  void (*estimate)(const EstimatorView&, const std::uint8_t* score, int groups, float* out);
  /// Whitens n advantages in place: (A - mean) / scale over all; zeros when all are equal. `mask` (null = all): those with 0 have no part
  /// in it and become 0.
  void (*whiten)(const Whitening&, float* advantage, const std::uint8_t* mask, int n);
};
const EstimatorStages& estimator_stages(Isa isa);

/// EstimatorStages::whiten over tokens: advantage i counts tokens[i] times, and has no part where that is 0.
void whiten_tokens(const Whitening& w, float* advantage, const std::uint8_t* mask, const int* tokens, int n);

/// Does the estimator read a median of earlier batches?
inline bool reads_running_median(const EstimatorConfig& c) {
  return c.form == Form::odrpo && reads_median(c.weight) && c.median == MedianRule::running;
}

/// One estimator made ready for groups of `rollouts` scores on 0..levels. The definition is advantages() of estimators/definition.hpp.
class BatchEstimator {
 public:
  /// `rollouts` 1..most_rollouts (forms of levels: 1..most_scores), `levels` up to 100. Throws Failure as convention_of(), for a posterior
  /// estimator, and for values that values_refusal() refuses or that are not one for each level.
  BatchEstimator(const EstimatorConfig& config, int levels, int rollouts);
  /// Sets the median of rule `running` and remakes the terms; O(levels rollouts). Only when needs_median().
  void set_median(double median);
  bool needs_median() const { return reads_running_median(config_); }
  /// Says that about so many groups will be estimated. Where it pays (many more groups than a group of 8 or 16 has histograms on so few
  /// levels, no running median) a table of every histogram's advantages is made here, and the operator looks up: a row a group, the same
  /// bits.
  void expect(double groups, Isa isa);
  /// Bytes that it takes, with the table that it gets when so many groups will be estimated; copies share all but a few of them.
  double bytes(double groups) const;
  bool tabulated() const { return look_up_ != nullptr; }
  /// The estimator as data, for another processor: valid until set_median() or the estimator's end; and its tables, which copies share.
  const EstimatorView& view() const { return view_; }
  std::span<const float> terms() const { return *term_; }
  std::span<const double> along() const { return gaps_->along; }
  std::span<const LevelCount> counts() const { return gaps_->counts; }
  /// Advantages of `groups` groups, [group][rollouts]. Nothing allocates.
  void operator()(const EstimatorStages& stages, const std::uint8_t* score, int groups, float* out) const;
  /// The same where scores may be missing (no_score): each group is estimated from the scores it has, as a group of that size; the missing
  /// get 0. Groups without gaps get the same bits as from the operator.
  void with_gaps(const EstimatorStages& stages, const std::uint8_t* score, int groups, float* out) const;
  /// Real rewards in 0..levels, NaN = missing: the continuous form of the definition, in double. Of forms by bits they are whole numbers.
  void real(const float* reward, int groups, float* out) const;
  void real(const double* reward, int groups, float* out) const;
  /// The same of posterior scores; floor[groups] = floor_squared() of each group.
  void real(const double* value, const double* floor, int groups, float* out) const;

  /// Advantages of one group of real rewards (on the scale of the scores, whatever their values): reward[n] to out[n], 1 <= n <=
  /// most_scores, no NaN.
  void one(const double* reward, int n, double* out) const { one(view_, reward, n, out); }

 private:
  void one(const EstimatorView& view, const double* reward, int n, double* out) const;
  struct Gaps {
    std::vector<double> along;
    std::vector<LevelCount> counts;
  };
  Gaps make_gaps() const;
  bool by_halves() const { return view_.basis == Basis::level && view_.class_size == 0; }  ///< a table by histogram is two smaller ones
  bool table_pays(double groups) const;
  void fill_terms(double median, float* term) const;
  void fill_bits();
  template <class T>
  void some(const EstimatorView& view, const T* seen, float* out) const;
  void large(const std::uint8_t* score, float* out) const;
  bool by_value() const { return view_.spaced && view_.basis == Basis::reward; }
  EstimatorConfig config_;
  std::shared_ptr<std::vector<float>> term_;  // copies share it until one sets its own median
  std::shared_ptr<const Gaps> gaps_;
  EstimatorView view_{};
  std::shared_ptr<const HalvesTable> halves_;         // where levels add up
  std::shared_ptr<const HistogramTable> histograms_;  // elsewhere
  const GroupTableStages* look_up_ = nullptr;
};

/// Shares of a batch that teach nothing: groups whose scores are all equal, and levels that nobody or everybody of a group reaches, among
/// lowest+1..K. Missing scores are left out; a group without any is dead.
struct DeadShares {
  double groups, levels;
};
DeadShares dead_shares(const std::uint8_t* score, int groups, int rollouts, int levels, int lowest = 1);
DeadShares dead_shares(const float* reward, int groups, int rollouts, int levels, int lowest = 1);

/// mask[group][G] = 1 for rollouts that take part in whitening and in the gradient: those with a score, and, when `drop_dead`, of a group
/// whose scores are not all equal. Returns how many.
int fill_mask(const std::uint8_t* score, int groups, int rollouts, bool drop_dead, std::uint8_t* mask);
int fill_mask(const float* reward, int groups, int rollouts, bool drop_dead, std::uint8_t* mask);
int fill_mask(const double* reward, int groups, int rollouts, bool drop_dead, std::uint8_t* mask);

/// Takes the pivot of every group (pivot_of() of group/entries.hpp) out of mask[group][G].
void leave_pivots_out(const std::uint8_t* score, int groups, int rollouts, std::uint8_t* mask);
void leave_pivots_out(const float* reward, int groups, int rollouts, std::uint8_t* mask);
void leave_pivots_out(const double* reward, int groups, int rollouts, std::uint8_t* mask);

// What a batch's advantages are divided by when they are whitened.

/// For float, or for double where counts are large.
template <class Real>
ODRPO_HD Real whitening_scale(const Whitening& w, Real variance) {
  const Real eps = static_cast<Real>(w.eps);
  switch (w.scale) {
    case WhitenScale::inside: return math::sqrt(variance + eps);
    case WhitenScale::floor: return math::sqrt(variance > eps ? variance : eps);
    default: return math::sqrt(variance) + eps;
  }
}

}  // namespace odrpo
