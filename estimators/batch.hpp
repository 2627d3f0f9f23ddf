// Computes the advantages of batches of groups fast, and whitens them. Makes tables once per run in double; a training step is one pass
// over the batch, in float for integer scores.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "estimators/compat.hpp"
#include "estimators/estimator.hpp"
#include "estimators/group/entries.hpp"
#include "estimators/level_formulas.hpp"
#include "kernels/group_table.hpp"
#include "kernels/isa.hpp"
#include "kernels/math.hpp"
#include "kernels/shared/judge_model.hpp"

namespace odrpo {

/// The largest group: most_rollouts for every form; most_scores for forms of levels, whose groups may hold several votes of each response.
inline constexpr int most_rollouts = 255, most_scores = 4096;

/// True for forms that no device computes (group::has_rare_forms).
constexpr bool only_on_host(Form form) {
  const FormRow& row = row_of(form);
  return row.divisor == Divisor::distances || row.divisor == Divisor::quarter_range || row.divisor == Divisor::place_deviation ||
         row.centre == Centre::quantile || row.centre == Centre::second || row.centre == Centre::floored;
}

struct EstimatorStages {
  /// Sets out[group][G] to the advantages of the scores score[group][G], G >= 2 members of a group. Scores are 0..K; none is missing.
  void (*estimate)(const EstimatorView&, const std::uint8_t* score, int groups, float* out);
  /// Whitens n advantages A in place: (A - mean) / whitening_scale(), without the mean if it is not `centred`, or zeros when all are equal. An advantage whose mask is 0 takes no
  /// part and becomes 0. A null `mask` lets all take part.
  void (*whiten)(const Whitening&, float* advantage, const std::uint8_t* mask, int n);
};
const EstimatorStages& estimator_stages(Isa isa);

/// As EstimatorStages::whiten, but in mean and variance advantage i counts tokens[i] times. An advantage of 0 tokens takes no part.
void whiten_tokens(const Whitening& w, float* advantage, const std::uint8_t* mask, const int* tokens, int n);

/// True if the estimator's weights depend on a running median of earlier batches.
inline bool reads_running_median(const EstimatorConfig& c) { return reads_median(c) && c.median == MedianRule::running; }

/// An estimator with its tables for groups of `rollouts` scores on 0..levels. Tests compare it with advantages() of definition.hpp.
class BatchEstimator {
 public:
  /// `rollouts` is 1..most_rollouts (forms of levels: 1..most_scores), `levels` at most 100. Throws Failure for a posterior estimator, a
  /// config that convention_of(), values_refusal() or formula_refusal() refuses, and config.values that are neither empty nor `levels` numbers.
  BatchEstimator(const EstimatorConfig& config, int levels, int rollouts);
  /// Sets the running median, and recomputes what each level adds, in O(levels rollouts). Only for an estimator with needs_median().
  void set_median(double median);
  bool needs_median() const { return reads_running_median(config_); }
  /// Announces about how many groups will be estimated. Where it pays, tabulates the advantages of every possible histogram of a group's
  /// scores. Then operator() looks up one table row for each group, with the same bits. It pays for groups of 8 or 16 members on few
  /// levels, for many more groups than histograms, and without a running median.
  void expect(double groups, Isa isa);
  /// Bytes of this object with the table that expect(groups) makes; copies of the object share its tables.
  double bytes(double groups) const;
  bool tabulated() const { return look_up_ != nullptr; }
  /// The estimator as data for another processor such as a GPU, valid until set_median() or the destructor. view() points to the tables
  /// terms(), along() and counts().
  const EstimatorView& view() const { return view_; }
  std::span<const float> terms() const { return *term_; }
  std::span<const double> along() const { return gaps_->along; }
  std::span<const LevelCount> counts() const { return gaps_->counts; }
  /// Sets out[group][rollouts] to the advantages of `groups` groups of integer scores. Allocates nothing.
  void operator()(const EstimatorStages& stages, const std::uint8_t* score, int groups, float* out) const;
  /// As operator(), but scores may be missing (no_score). Each group is estimated from the scores it has, as a group of that size; missing
  /// scores get 0. A group without missing scores gets the same bits as from operator().
  void with_gaps(const EstimatorStages& stages, const std::uint8_t* score, int groups, float* out) const;
  /// Sets `out` to the advantages of real rewards in 0..levels (NaN = missing), in double, as definition.hpp extends forms to real rewards.
  /// Forms of bits need integer rewards.
  void real(const float* reward, int groups, float* out) const;
  void real(const double* reward, int groups, float* out) const;
  /// Computes advantages of the posterior scores `value` as those of real rewards; floor[groups] = floor_squared() of each group.
  void real(const double* value, const double* floor, int groups, float* out) const;

  /// Computes the advantages out[n] of one group with the real rewards reward[n], 1 <= n <= most_scores, no NaN. Rewards are in the units
  /// of scores (0..levels), even where levels have `values`.
  void one(const double* reward, int n, double* out) const { one(view_, reward, n, out); }

 private:
  void one(const EstimatorView& view, const double* reward, int n, double* out) const;
  void by_levels(const double* reward, int n, double* out) const;
  void make_formula_tables(int largest);
  std::size_t formula_entries(int n) const;
  const LevelShares* formula_table(int n, double median) const;
  struct Gaps {
    std::vector<double> along;
    std::vector<LevelCount> counts;
  };
  Gaps make_gaps() const;
  bool by_halves() const { return view_.basis == Basis::level && view_.class_size == 0; }  ///< expect() makes two small tables, not a large one
  bool table_pays(double groups) const;
  void fill_terms(double median, float* term) const;
  void fill_bits();
  template <class T>
  void some(const EstimatorView& view, const T* seen, float* out) const;
  void large(const std::uint8_t* score, float* out) const;
  bool by_value() const { return view_.spaced && view_.basis == Basis::reward; }
  EstimatorConfig config_;
  struct FormulaTables;
  bool by_formula_;                        // groups with missing scores and real rewards are computed by_levels()
  std::shared_ptr<FormulaTables> tables_;  // set if by_formula_
  std::shared_ptr<std::vector<float>> term_;  // EstimatorView::term; copies of the object share it until one calls set_median()
  std::shared_ptr<const Gaps> gaps_;
  EstimatorView view_{};
  std::shared_ptr<const HalvesTable> halves_;         // set by expect() where by_halves()
  std::shared_ptr<const HistogramTable> histograms_;  // set by expect() for other forms
  const GroupTableStages* look_up_ = nullptr;
};

/// Which shares of a batch give no gradient. Missing scores are left out; a group whose scores are all missing counts as dead.
struct DeadShares {
  double groups, levels;  ///< groups that are dead() (entries.hpp); levels lowest+1..K that all or none of a group's scores reach
};
DeadShares dead_shares(const std::uint8_t* score, int groups, int rollouts, int levels, int lowest = 1, double taught_below = nothing_below);
DeadShares dead_shares(const float* reward, int groups, int rollouts, int levels, int lowest = 1, double taught_below = nothing_below);

/// Sets mask[group][G] to 1 for rollouts that take part in whitening and in the gradient, else to 0. These are the rollouts with a score
/// and, with `drop_dead`, only those of groups that are not dead(). Returns how many take part.
int fill_mask(const std::uint8_t* score, int groups, int rollouts, bool drop_dead, std::uint8_t* mask, double taught_below = nothing_below);
int fill_mask(const float* reward, int groups, int rollouts, bool drop_dead, std::uint8_t* mask, double taught_below = nothing_below);
int fill_mask(const double* reward, int groups, int rollouts, bool drop_dead, std::uint8_t* mask, double taught_below = nothing_below);

/// Sets mask[group][G] to 0 for every group's pivot: its first rollout whose score equals the group's lower median.
void leave_pivots_out(const std::uint8_t* score, int groups, int rollouts, std::uint8_t* mask);
void leave_pivots_out(const float* reward, int groups, int rollouts, std::uint8_t* mask);
void leave_pivots_out(const double* reward, int groups, int rollouts, std::uint8_t* mask);

/// The number by which whitening divides a batch's advantages, from their variance. In float, or in double where counts are large.
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
