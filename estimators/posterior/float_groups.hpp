// Computes posterior scores of a batch of groups in float, for training. PosteriorGroup (posterior.hpp) defines them in double, and computes the
// groups for which floats are too coarse.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <optional>
#include <span>
#include <vector>

#include "estimators/estimator.hpp"
#include "estimators/posterior/float_stages.hpp"
#include "estimators/posterior/posterior.hpp"

namespace odrpo {

/// Begins memory at a cache line, so that a tile of 16 floats is one.
template <class T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t line{64};
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), line)); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, line); }
  bool operator==(const LineAllocator&) const = default;
};
using LineFloats = std::vector<float, LineAllocator<float>>;

/// The tables of PosteriorScores in float. E[quality | score, state] is stored as its difference from a quality near it, centre[state], so that
/// differences between values keep their digits, and values of scores that tell nothing are equal.
class FloatScores {
 public:
  /// `members`: of a group none of whose scores is missing, the largest.
  FloatScores(const PosteriorScores& scores, int members);
  int members() const { return members_; }
  bool squares() const { return squares_; }  ///< it is for prior = "moments"
  std::size_t tiles() const { return tiles_; }
  std::size_t bounds() const { return (tiles_ + 7) / 8 * 8; }  ///< length of FloatPower::highest
  const float* centre() const { return centre_.data(); }
  FloatFactor factor(ScoreCount seen, int members) const {
    return {&tables_[static_cast<std::size_t>(seen.score) * tiles_ * stride()], static_cast<float>(seen.count) / static_cast<float>(members)};
  }
  /// Appends powers of the likelihood of a score whose product is its power `count`.
  void add_powers(ScoreCount seen, std::vector<FloatPower>& powers) const;
  std::size_t bytes() const { return (tables_.size() + powers_.size() + highest_.size() + centre_.size()) * sizeof(float); }

 private:
  std::size_t stride() const { return (squares_ ? float_tables : table_square) * tile_states; }
  std::size_t tiles_;
  int members_;
  bool squares_;
  std::vector<int> exponents_;  ///< 1, 2, 3, 4, 8, 12, 16, 32, … up to the members
  LineFloats tables_;   ///< [scores][tiles][tables][16]
  LineFloats powers_;   ///< [scores][exponents][tiles][16]
  LineFloats highest_;  ///< [scores][exponents][bounds()]
  LineFloats centre_;   ///< [tiles][16]
};

/// Least ratio L(c) / E = P(c | group) / P(c) that PosteriorGroups needs (FloatStages::weigh()). Nothing where floats do not suffice.
/// A prior that follows moves from P(c) to P(c) (keep + (1 - keep) mean of the ratios). Smaller ratios are less than 2^-22 of that factor, however
/// small P(c) is. Floats know no ratio below 2^-36, so keep must be larger. Rule `moments` asks for the weights of likely states alone.
inline std::optional<float> least_ratio(const EstimatorConfig& config) {
  const double kept = config.keep / (1 - config.keep), largest = std::numeric_limits<float>::max();
  if (config.prior == PriorRule::moments) return std::numeric_limits<float>::max();
  if (config.prior == PriorRule::fixed || kept < 0x1p-13) return {};
  return static_cast<float>(std::min(0x1p-22 * kept, largest));
}

/// Computes posterior scores of batches of groups. Groups with the same scores are computed once.
class PosteriorGroups {
 public:
  /// `least_ratio`: that of the prior's rule.
  PosteriorGroups(const PosteriorScores& scores, const FloatScores& floats, float least_ratio);
  /// What a batch shows of its prompts, for a prior that moves.
  struct Shown {
    double squares = 0;  ///< sum over groups of PosteriorGroup::mean_square(), for a model with moments
    int silent = 0;      ///< number of groups without scores, which `squares` leaves out
    int in_double = 0;   ///< number of different groups that floats were too coarse for
  };
  /// Sets value[groups][rollouts] for seen[groups][rollouts] as PosteriorGroup::values() does, and open[groups] to the variance of
  /// values_and_variance() (0 without `variance`). Adds P(c | group) of each group to weights[states].
  Shown values(const StatePrior& prior, std::span<const int> seen, int groups, bool variance, double* value, double* open, std::span<double> weights);

 private:
  /// Groups with the same scores.
  struct Group {
    std::uint64_t hash;
    std::size_t first, last;  ///< places in the batch; next_ leads from one to the next
    int times;                ///< number of them
    int members;              ///< with a score
    std::size_t counts, scores;  ///< where its counts are in count_; number of different scores
  };
  Group count(std::span<const int> seen);
  bool same(const Group& a, const Group& b) const;
  void find_different(std::span<const int> seen, std::size_t rollouts);
  bool in_float(const Group& group, bool variance, double& open, Shown& shown);
  void in_double(const StatePrior& prior, std::span<const int> seen, bool variance, int times, double& open, std::span<double> weights, Shown& shown);
  const PosteriorScores* scores_;
  const FloatScores* floats_;
  const FloatStages* stages_;
  float least_ratio_;
  PosteriorGroup exact_;
  // of a batch
  LineFloats prior_, highest_prior_;
  LineFloats ratio_;  ///< [states] sum over its groups of P(c | group) / P(c)
  std::vector<Group> group_;       ///< the different groups
  std::vector<ScoreCount> count_;  ///< of all of them
  std::vector<std::size_t> next_;  ///< [groups] place of the next group with the same scores; the number of groups for the last
  std::vector<std::size_t> place_;  ///< hash table: 1 + index in group_; 0 = empty
  // of a group
  std::vector<int> times_;         ///< [scores] members with each score; zeros between groups
  std::vector<double> of_score_;   ///< [scores] values of the scores that the group has
  std::vector<FloatFactor> factor_;
  std::vector<FloatPower> power_;
  LineFloats bound_, likelihood_, expected_, lanes_;
  std::vector<double> value_;
  std::vector<std::uint32_t> heavy_, light_;
};

}  // namespace odrpo
