// The advantages of one group: from its distinct scores and their counts to one advantage per distinct score. Integer scores, real rewards,
// tables by histogram and devices run this one text. The definition (definition.hpp) is its judge.
#pragma once
#include "estimators/group/entries.hpp"
#include "estimators/group/level_forms.hpp"

namespace odrpo::ODRPO_ISA::group {

/// A mean that is this small beside the largest reward is zero but for rounding: rewards come as floats, each with an error of 6e-8, and
/// means of up to 64 votes of 1..10 in groups of 8 are 0 or 2e-4 of the largest at least. (The definition, given doubles: 1e-12.)
inline constexpr double zero_mean = 1e-6;

/// What n (value - mean) is multiplied by: 1 / (n divisor), of n members whose values have the sum `total` and n^2 sigma^2 = `spread`; 0
/// where all are equal. Under the guard a total of at most `zero` gives 0. Not for Divisor::others_deviation. Also for vectors of groups.
template <class N>
ODRPO_HD typename N::F factor(const EstimatorView& e, int n, typename N::I total, typename N::Wide spread, typename N::I zero) {
  using Scalar = typename N::Scalar;
  const Scalar members = static_cast<Scalar>(n), eps = static_cast<Scalar>(e.eps), one = 1;
  typename N::F inverse = N::all(one / (e.centre == Centre::others ? members - one : members));
  if (e.divisor == Divisor::deviation) {
    typename N::F sum = N::real(spread);
    if constexpr (!N::exact) sum += members * members * static_cast<Scalar>(e.floor);
    const typename N::F sigma = N::sqrt(sum / static_cast<Scalar>(n * (n - e.ddof)));
    inverse = one / (members * (sigma + eps));
  }
  if (e.divisor == Divisor::mean) {
    inverse = one / (N::real(total) + members * eps);
    if (e.guard) inverse = N::choose(total > zero, inverse, N::all(0));
  }
  return N::choose(spread > 0, inverse, N::all(0));
}

/// Values of a group, rewards or ranks, as deviations n (value - mean); with n^2 sigma^2 = `spread`. Integers give the spread exactly from
/// sums. Doubles give it from the deviations, where nothing cancels.
template <class N, class Group, bool ranks>
struct Deviations {
  using I = typename N::I;
  using Wide = typename N::Wide;
  const Group& g;
  int n, shift;
  I first = 0, sum = 0, squares = 0;  ///< sums from the first value
  Wide spread = 0;

  ODRPO_HD Deviations of(const EstimatorView& e, const Group& g) {
    Deviations d{g, g.reach(g.first()), e.shift};
    d.first = d.value(g.first(), g.next(g.first()));
    for (int i = g.first(), to; i < g.end(); i = to) {
      to = g.next(i);
      const I count = g.reach(i) - g.reach(to), x = d.value(i, to) - d.first;
      d.sum += count * x;
      d.squares += count * x * x;
    }
    d.spread = d.n * static_cast<Wide>(d.squares) - static_cast<Wide>(d.sum) * d.sum;
    if constexpr (!N::exact) {
      d.spread = 0;
      for (int i = g.first(), to; i < g.end(); i = to) {
        to = g.next(i);
        const Wide own = d.at(i, to);
        d.spread += (g.reach(i) - g.reach(to)) * own * own;
      }
      d.spread /= d.n;
    }
    return d;
  }
  /// Of entry i, before entry `to`: its reward or rank.
  constexpr I value(int i, int to) const {
    if constexpr (ranks) return static_cast<I>(g.twice_rank(i, to));
    else return static_cast<I>(g.value(i)) - shift;
  }
  constexpr I at(int i, int to) const { return n * (value(i, to) - first) - sum; }
  constexpr I total() const { return sum + n * first; }
  /// Largest magnitude of a value.
  constexpr I largest() const {
    I most = 0;
    for (int i = g.first(), to; i < g.end(); i = to) {
      to = g.next(i);
      const I x = value(i, to), size = x < 0 ? -x : x;
      most = size > most ? size : most;
    }
    return most;
  }
  /// (n-1)^2 variance of all members but one of entry i. Where that one stands alone at an end of the group, the others may nearly be
  /// equal, and the difference would cost doubles their digits: theirs is taken afresh.
  constexpr Wide spread_without(int i, int to) const {
    const int others = n - 1;
    const Wide x = value(i, to) - first, own = at(i, to);
    if (N::exact) return others * (squares - x * x) - (sum - x) * (sum - x);
    if (!((i == g.first() || to == g.end()) && g.reach(i) - g.reach(to) == 1)) return (others * spread - own * own) / n;
    const int begin = i == g.first() ? to : g.first(), end = to == g.end() ? i : g.end();
    const I from = value(begin, g.next(begin));
    Wide rest = 0, fresh = 0;
    for (int j = begin, next; j < end; j = next) {
      next = g.next(j);
      rest += (g.reach(j) - g.reach(next)) * (value(j, next) - from);
    }
    for (int j = begin, next; j < end; j = next) {
      next = g.next(j);
      const Wide d = others * (value(j, next) - from) - rest;
      fresh += (g.reach(j) - g.reach(next)) * d * d;
    }
    return fresh / others;
  }
};

template <class N, bool ranks, class Group, class Out>
ODRPO_HD void scale(const EstimatorView& e, const Group& g, Out out) {
  using Scalar = typename N::Scalar;
  using Of = Deviations<N, Group, ranks>;
  const Of d = Of::of(e, g);
  const int n = d.n, others = n - 1;
  if (e.divisor != Divisor::others_deviation) {
    typename N::I zero = 0;
    if constexpr (!N::exact)
      if (e.guard) zero = n * zero_mean * d.largest();
    const typename N::F by = factor<N>(e, n, d.total(), d.spread, zero);
    for (int i = g.first(), to; i < g.end(); i = to) {
      to = g.next(i);
      out.put(i, N::real(d.at(i, to)) * by);
    }
    return;
  }
  for (int i = g.first(), to; i < g.end(); i = to) {  // against the other members; undivided where their deviation is 0
    to = g.next(i);
    if (g.reach(i) == g.reach(to)) continue;
    const typename N::F own = N::real(d.at(i, to)) * (Scalar(1) / static_cast<Scalar>(others));
    typename N::Wide spread = others > e.ddof ? d.spread_without(i, to) : 0;
    if constexpr (!N::exact)
      if (others > e.ddof) spread += others * others * e.floor;
    const typename N::F sigma = N::sqrt(N::real(spread) / static_cast<Scalar>(others * (others - e.ddof)));
    out.put(i, spread > 0 ? own / (sigma + static_cast<Scalar>(e.eps)) : own);
  }
}

/// (value - median) / (MAD + 0.001) n / #(value != median): lower medians, found by counting.
template <class N, class Group, class Out>
ODRPO_HD void around_median(const EstimatorView& e, const Group& g, Out out) {
  using I = typename N::I;
  using F = typename N::F;
  const int n = g.reach(g.first()), below = (n - 1) / 2;  // members before the lower median in order
  int holders = 0;
  I median = 0;
  for (int i = g.first(), to; i < g.end(); i = to) {
    to = g.next(i);
    if (g.reach(i) >= n - below && g.reach(to) < n - below) median = static_cast<I>(g.value(i)), holders = g.reach(i) - g.reach(to);
  }
  const auto distance = [&](int i) {
    const I v = static_cast<I>(g.value(i));
    return v < median ? median - v : v - median;
  };
  bool found = false;
  I mad = 0;  // the least distance that more than `below` members do not exceed
  for (int i = g.first(), to; i < g.end(); i = to) {
    to = g.next(i);
    const I own = distance(i);
    if (g.reach(i) == g.reach(to) || (found && own >= mad)) continue;
    int within = 0;
    for (int j = g.first(), next; j < g.end(); j = next) {
      next = g.next(j);
      if (distance(j) <= own) within += g.reach(j) - g.reach(next);
    }
    if (within > below) found = true, mad = own;
  }
  F divisor = N::real(mad);
  if constexpr (!N::exact)
    if (e.floor > 0) divisor = N::sqrt(divisor * divisor + static_cast<F>(e.floor));
  divisor += static_cast<F>(mad_eps);
  const F factor = n > holders ? static_cast<F>(n) / (static_cast<F>(n - holders) * divisor) : F(0);
  for (int i = g.first(); i < g.end(); i = g.next(i)) out.put(i, N::real(static_cast<I>(g.value(i)) - median) * factor);
}

template <class N, class Group, class Out>
ODRPO_HD void scale(const EstimatorView& e, const Group& g, Out out) {
  if constexpr (requires { g.twice_rank(0, 0); })
    if (e.basis == Basis::rank) return scale<N, true>(e, g, out);
  scale<N, false>(e, g, out);
}

/// What a group of one gets.
template <class Group>
ODRPO_HD double alone(const EstimatorView& e, const Group& g) {
  const double own = g.value(0);
  if (e.basis == Basis::bit) return own > 1 ? (own - 1) * e.rule.single : 0.0;  // its bits, put together
  if (e.basis != Basis::level) return (own - e.shift) * e.lone_factor;
  if (!(own > 0)) return 0;
  return weight_of_gap(e, count_of(e.weight, e.rule, 1, 1), 0, own, damping_of(e, median_of(e, g))) * e.rule.single;
}

/// Has a group of n anything to learn from? (All equal: it has not, but that a group of one may have its reward.)
ODRPO_HD bool teaches(const EstimatorView& e, bool all_equal, int n) { return n > 0 && (!all_equal || (n == 1 && e.lone)); }

/// One advantage per entry: out.put(i, advantage). Integer scores: a full group of `rollouts`, two or more; all equal gives zeros. Real
/// rewards: any number, of a group that teaches(), sorted where needs_order().
template <class N, class Group, class Out>
ODRPO_HD void estimate(const EstimatorView& e, const Group& g, Out out) {
  if (e.basis != Basis::level) {
    if constexpr (!N::exact)
      if (g.end() == 1) return out.put(0, alone(e, g));
    if constexpr (has_bits<N, Group>)
      if (e.basis == Basis::bit) return sum_bits<N>(e, g, out);
    if (e.centre == Centre::median) return around_median<N>(e, g, out);
    return scale<N>(e, g, out);
  }
  if constexpr (N::exact) {
    const auto reach = [&](int k) { return g.reach(k); };
    if (in_halves(e)) return sum_halves<N::still>(e, e.levels, e.rollouts, reach, out);
    return sum_at_once<N::still>(e, e.levels, e.rollouts, reach, out);
  } else {
    if (g.end() == 1) return out.put(0, alone(e, g));
    return sum_gaps(e, g, out);
  }
}

}  // namespace odrpo::ODRPO_ISA::group
