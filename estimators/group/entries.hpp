// Defines the input of estimators/group/group.hpp: an estimator as plain data, a group as a list of entries (its distinct rewards), and
// number types. Finds groups and levels that give no gradient.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>

#include "estimators/estimator.hpp"
#include "estimators/weights.hpp"
#include "kernels/math.hpp"
#include "kernels/shared/judge_model.hpp"

namespace odrpo {

/// What one level adds to advantages when a given number of the group's members reach it, and the factor level_mix() of its weight.
struct LevelCount {
  LevelShares shares;   ///< what the level adds per unit of its weight
  double fixed, slope;  ///< level_mix = fixed + slope decay
};

/// An estimator as plain data, for any processor. The pointers are to tables of a BatchEstimator.
struct EstimatorView {
  Form form;
  Basis basis;
  Centre centre;
  Divisor divisor;
  Weight weight;
  MedianRule median;
  int levels, rollouts, ddof;
  double eps;          ///< for ranks twice the config's eps, because sums are over doubled ranks
  double kappa;        ///< for Centre::quantile
  double r_min;        ///< for Centre::floored
  double taught_below;  ///< equal scores below it give advantages other than 0; -infinity but for Centre::floored
  double floor;        ///< floor_squared() of a group of posterior scores; 0 for other rewards
  int shift;           ///< subtracted from every reward (maxrl with origin 0: 1)
  bool ordered;        ///< groups are estimated from counts or sorted rewards; else from sums of rewards
  bool guard;          ///< a group with a mean <= 0 gets zeros
  bool spaced;         ///< the config has `values`: `term` and `along` include them, forms of Basis::reward get them as rewards
  bool lone;           ///< true if a group of one gets an advantage other than 0
  double lone_factor;  ///< the advantage of a group of one per unit of its reward
  LevelRule rule;      ///< for Basis::level and Basis::bit

  // Basis::level, integer scores. A class stands for one possible median of the group, if what a level adds depends on the median.
  // (Basis::bit: `term` is [bit][rollouts+1][2]: what a bit that `count` members have adds to these members, and to all others)
  const float* term;             ///< [class][levels+1][rollouts+1][2]: level_term() by level and number of members that reach it
  int class_size;                ///< 2 (levels+1)(rollouts+1); 0 when the terms do not depend on the group's median
  int lower_reach, upper_reach;  ///< the median = number of levels that at least this many members reach; 0 = unused
  // Basis::level, real rewards
  double running;            ///< the running median, with MedianRule::running
  const double* along;       ///< [4][levels + 2] by level: x = level_shape Delta_k, running sums of x, y = x e^(k/2), running sums of y
  const LevelCount* counts;  ///< [rollouts + 1] by the number of members that reach a level, for groups of `rollouts`
};

// The namespace carries the instruction set of the including stage file, so that no two stage files share an out-of-line function.
namespace ODRPO_ISA::group {

/// Number types of a group's sums. WholeNumbers, for integer scores: exact integers, and advantages in float. RealNumbers: double. `still`:
/// nobody writes EstimatorView::term while it is read. ChangingNumbers are for runs whose running median rewrites this table.
struct WholeNumbers {
  using I = std::int32_t;
  using Wide = std::int64_t;  ///< for sums of squares
  using F = float;
  using Scalar = float;
  static constexpr bool exact = true, still = true;
  ODRPO_HD F real(Wide x) { return static_cast<float>(x); }
  ODRPO_HD F real(I x) { return static_cast<float>(x); }
  ODRPO_HD F all(Scalar x) { return x; }
  ODRPO_HD F sqrt(F x) { return math::sqrt(x); }
  ODRPO_HD F choose(bool which, F x, F y) { return which ? x : y; }
};
struct ChangingNumbers : WholeNumbers {
  static constexpr bool still = false;
};
struct RealNumbers {
  using I = double;
  using Wide = double;
  using F = double;
  using Scalar = double;
  static constexpr bool exact = false, still = true;
  ODRPO_HD F real(I x) { return x; }
  ODRPO_HD F all(Scalar x) { return x; }
  ODRPO_HD F sqrt(F x) { return math::sqrt(x); }
  ODRPO_HD F choose(bool which, F x, F y) { return which ? x : y; }
};

// A group is a list of entries first() .. end() in ascending order. next(i) is the entry after i, and value(i) the reward of i. reach(i) is
// the number of members with at least this reward. So reach(i) - reach(next(i)) members have exactly this reward; it may be 0.
// twice_rank(i, next(i)) is twice the average rank of i, less one: members below count twice, equal ones once. After put(i, advantage)
// nobody calls reach(i), so an implementation may store the advantage where the reach was.

/// A group of integer scores, an entry for each score v = 0..levels: reached[v] members have at least score v, v = 0..levels + 1.
template <class Count>
struct ScoresByCount {
  const Count* reached;
  int levels;
  constexpr int first() const { return 0; }
  constexpr int end() const { return levels + 1; }
  constexpr int next(int i) const { return i + 1; }
  constexpr int value(int i) const { return i; }
  constexpr int reach(int i) const { return reached[i]; }
  constexpr int twice_rank(int i, int to) const { return 2 * reached[0] - reached[i] - reached[to]; }
};
using Scores = ScoresByCount<std::uint8_t>;       // groups of up to 255
using WideScores = ScoresByCount<std::int32_t>;  // larger groups
/// A group of sorted real rewards. Equal rewards are one entry, whose index is that of the first of them. `Values` has an operator[].
template <class Values>
struct Sorted {
  Values values;
  int count;
  constexpr int first() const { return 0; }
  constexpr int end() const { return count; }
  constexpr int next(int i) const {
    int to = i + 1;
    while (to < count && values[to] == values[i]) ++to;
    return to;
  }
  constexpr double value(int i) const { return values[i]; }
  constexpr int reach(int i) const { return count - i; }
  constexpr int twice_rank(int i, int to) const { return i + to; }
};
/// A group of real rewards in any order, each an entry of its own. For forms that need only sums of rewards (EstimatorView::ordered is false).
template <class Values>
struct Unsorted {
  Values values;
  int count;
  constexpr int first() const { return 0; }
  constexpr int end() const { return count; }
  constexpr int next(int i) const { return i + 1; }
  constexpr double value(int i) const { return values[i]; }
  constexpr int reach(int i) const { return count - i; }
};

/// Stores the advantage of each entry in an array.
template <class F>
struct Array {
  F* at;
  constexpr void put(int i, F x) const { at[i] = x; }
  constexpr F get(int i) const { return at[i]; }
};
}  // namespace ODRPO_ISA::group
namespace group = ODRPO_ISA::group;

// The range of a group's rewards, its pivot, and its dead levels (all or none of the members reach them). Missing rewards are left out.

ODRPO_HD bool present(std::uint8_t score) { return score != no_score; }
ODRPO_HD bool present(float reward) { return reward == reward; }
ODRPO_HD bool present(double reward) { return reward == reward; }

/// Lowest and highest reward of a group; `any` is false if all its rewards are missing.
template <class T>
struct Range {
  T low, high;
  bool any;
};
/// EstimatorView::taught_below of forms under which no group of equal scores teaches.
inline constexpr double nothing_below = -std::numeric_limits<double>::infinity();
/// True if all rewards of a group are equal and at least `taught_below` (EstimatorView), or all are missing.
template <class T>
ODRPO_HD bool dead(const Range<T>& r, double taught_below = nothing_below) {
  return !r.any || (r.low == r.high && !(static_cast<double>(r.low) < taught_below));
}
template <class T>
ODRPO_HD Range<T> range_of(const T* value, int n) {
  Range<T> r{};
  for (int i = 0; i < n; ++i) {
    if (!present(value[i])) continue;
    r.low = !r.any || value[i] < r.low ? value[i] : r.low;
    r.high = !r.any || value[i] > r.high ? value[i] : r.high;
    r.any = true;
  }
  return r;
}

/// Index of the pivot: the first reward that equals the group's lower median. -1 if all rewards are missing.
template <class T>
ODRPO_HD int pivot_of(const T* value, int n) {
  int there = 0;
  for (int i = 0; i < n; ++i) there += present(value[i]);
  for (int i = 0; i < n; ++i) {
    if (!present(value[i])) continue;
    int below = 0, equal = 0;
    for (int j = 0; j < n; ++j) {
      below += present(value[j]) && value[j] < value[i];
      equal += value[j] == value[i];
    }
    if (below <= (there - 1) / 2 && (there - 1) / 2 < below + equal) return i;
  }
  return -1;
}

/// How many of the levels lowest+1..levels a reward reaches.
template <class T>
ODRPO_HD int levels_reached(T value, int lowest, int levels) {
  const int whole = static_cast<int>(math::floor(static_cast<double>(value)));
  return (whole < lowest ? lowest : whole > levels ? levels : whole) - lowest;
}
/// How many of the levels lowest+1..levels all or none of a group's rewards reach. Only some reach level k exactly when low < k <= high.
template <class T>
ODRPO_HD int dead_levels_of(const Range<T>& r, int lowest, int levels) {
  return (levels - lowest) - (r.any ? levels_reached(r.high, lowest, levels) - levels_reached(r.low, lowest, levels) : 0);
}

}  // namespace odrpo
