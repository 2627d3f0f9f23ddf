// What the function of estimators/group/group.hpp reads besides the estimator: the entries of a group, and the numbers of its sums.
#pragma once
#include <cstddef>
#include <cstdint>

#include "estimators/estimator.hpp"
#include "estimators/weights.hpp"
#include "kernels/math.hpp"
#include "kernels/shared/judge_model.hpp"

namespace odrpo {

// EstimatorView: an estimator as data, for any processor.

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
  double floor;        ///< squared, of posterior scores (floor_squared()), which are no integer scores; 0 elsewhere
  int shift;           ///< subtracted from every reward (maxrl with origin 0: 1)
  bool guard;          ///< a mean <= 0 gives zeros
  bool spaced;         ///< levels have values of their own: `term` and `along` have them inside, Basis::reward is given them as rewards
  bool lone;           ///< a group of one gets something …
  double lone_factor;  ///< … which is its reward times this
  LevelRule rule;      ///< Basis::level and Basis::bit

  // Basis::level, integer scores. (Basis::bit: `term` is [bit][rollouts+1][2]: what a bit that `count` have gives to those, and to others)
  const float* term;             ///< [class][levels+1][rollouts+1][2]: level_term() of a level that `count` of G reach; 0 at dead levels
  int class_size;                ///< 2 (levels+1)(rollouts+1); 0 when the terms do not depend on the group's median
  int lower_reach, upper_reach;  ///< a median is the number of levels that at least so many members reach; 0 = not used
  // Basis::level, real rewards
  double running;            ///< the median of rule `running`
  const double* along;       ///< [4][levels + 2]: step and running sum of the weights' shape times Delta_k, then of that times e^(k/2)
  const LevelCount* counts;  ///< [rollouts + 1] for groups of the usual size
};

// Of the instruction set that includes it, so that no stage file shares an out-of-line copy with another.
namespace ODRPO_ISA::group {

/// How sums are kept: exact integers and float advantages for integer scores; double throughout for real rewards. `still`: nobody writes the
/// terms while they are read (a run that follows a running median remakes its own).
struct WholeNumbers {
  using I = std::int32_t;
  using Wide = std::int64_t;  ///< of squares
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

// A group is a list of entries first() .. end() in ascending order; next(i) is the entry after i. Each has a value(i), and twice_rank(i,
// next(i)) is twice its average rank less one (those below count twice, its equals once); reach(i) members
// have at least that value, so that reach(i) - reach(next(i)) members have it: maybe none. The advantage of an entry may be put where its
// reach is: no reach(i) is asked for after put(i).

/// Integer scores 0..levels by counts: reached[v] members have at least score v, v = 0..levels + 1.
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
using WideScores = ScoresByCount<std::int32_t>;  // larger ones
/// Sorted rewards; an entry stands where the first of its equals does. `Values` is anything with an index.
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
/// Rewards in any order, each an entry of its own: enough where only sums over the group matter (needs_order()).
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
ODRPO_HD bool needs_order(const EstimatorView& e) {
  return e.basis != Basis::reward || e.divisor == Divisor::others_deviation || e.centre == Centre::median || e.spaced;
}

/// Advantages by entry in an array.
template <class F>
struct Array {
  F* at;
  constexpr void put(int i, F x) const { at[i] = x; }
  constexpr F get(int i) const { return at[i]; }
};
}  // namespace ODRPO_ISA::group
namespace group = ODRPO_ISA::group;

// Between which values a group's rewards lie, and what of it teaches nothing; rewards that are missing are left out.

ODRPO_HD bool present(std::uint8_t score) { return score != no_score; }
ODRPO_HD bool present(float reward) { return reward == reward; }
ODRPO_HD bool present(double reward) { return reward == reward; }

/// Lowest and highest of a group's present values; `any` when there is one.
template <class T>
struct Range {
  T low, high;
  bool any;
};
/// All of them are equal, or there is none.
template <class T>
ODRPO_HD bool dead(const Range<T>& r) {
  return !r.any || r.low == r.high;
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

/// The first of the present values that equal their lower median: the pivot. -1 when there is none.
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

/// Levels lowest+1..levels that a value reaches.
template <class T>
ODRPO_HD int levels_reached(T value, int lowest, int levels) {
  const int whole = static_cast<int>(math::floor(static_cast<double>(value)));
  return (whole < lowest ? lowest : whole > levels ? levels : whole) - lowest;
}
/// Of those levels, how many nobody or everybody of the group reaches: level k is alive exactly when low < k <= high.
template <class T>
ODRPO_HD int dead_levels_of(const Range<T>& r, int lowest, int levels) {
  return (levels - lowest) - (r.any ? levels_reached(r.high, lowest, levels) - levels_reached(r.low, lowest, levels) : 0);
}

}  // namespace odrpo
