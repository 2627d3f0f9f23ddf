// Computes the advantages of one group from its distinct scores and their counts: one advantage per distinct score. Integer scores, real
// rewards, tables by histogram and GPUs run this one implementation; tests compare it with definition.hpp.
#pragma once
#include "estimators/group/entries.hpp"
#include "estimators/group/level_forms.hpp"

namespace odrpo::ODRPO_ISA::group {

/// The guard of maxrl takes a mean below this share of the largest reward for 0, since it may come from rounding. Rewards are floats, each
/// with a relative error of 6e-8. The mean of 8 rewards, each a mean of up to 64 votes 1..10, is 0 or at least 2e-4 of the largest. (The
/// definition, given doubles: 1e-12.)
inline constexpr double zero_mean = 1e-6;

/// The factor 1 / (n divisor) that turns n (value - mean) into an advantage; 0 where all values are equal. `total` = sum of the n values,
/// `spread` = n^2 sigma^2. With the guard (FormRow::guard), a total of at most `zero` gives 0. Not for Divisor::others_deviation. N may
/// hold several groups in the lanes of a vector.
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

/// The values of a group (rewards or doubled ranks) as deviations n (value - mean), and `spread` = n^2 sigma^2. For integers the spread
/// follows exactly from sums and sums of squares; for doubles from the deviations, so that no digits cancel.
template <class N, class Group, bool ranks>
struct Deviations {
  using I = typename N::I;
  using Wide = typename N::Wide;
  const Group& g;
  int n, shift;
  I first = 0, sum = 0, squares = 0;  ///< the first value; sum and sum of squares of all values less the first
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
  /// The reward or doubled rank of entry i; `to` is the entry after i.
  constexpr I value(int i, int to) const {
    if constexpr (ranks) return static_cast<I>(g.twice_rank(i, to));
    else return static_cast<I>(g.value(i)) - shift;
  }
  constexpr I at(int i, int to) const { return n * (value(i, to) - first) - sum; }
  constexpr I total() const { return sum + n * first; }
  /// The largest magnitude among the values.
  constexpr I largest() const {
    I most = 0;
    for (int i = g.first(), to; i < g.end(); i = to) {
      to = g.next(i);
      const I x = value(i, to), size = x < 0 ? -x : x;
      most = size > most ? size : most;
    }
    return most;
  }
  /// (n-1)^2 variance of all members but one, which belongs to entry i. If this member alone has the lowest or the highest value, the
  /// others may be nearly equal. A difference of sums would then lose the digits of doubles, so the spread is summed afresh.
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

/// factor() for the divisors that only ranks have; `spread` is that of doubled ranks, so it has half of quarter_range() and twice eps.
template <class N>
ODRPO_HD typename N::F factor_of_ranks(const EstimatorView& e, int n, typename N::Wide spread) {
  using Scalar = typename N::Scalar;
  const Scalar members = static_cast<Scalar>(n), one = 1;
  typename N::F inverse = N::all(2 * one / (members * (members - one)));
  if (e.divisor == Divisor::place_deviation) {
    const typename N::F sigma = N::sqrt(N::real(spread) / static_cast<Scalar>(n * (n - e.ddof)));
    inverse = one / (members * (sigma + (members - one) * static_cast<Scalar>(e.eps)));
  }
  return N::choose(spread > 0, inverse, N::all(0));
}
/// factor() for the divisors that it has not: sums of distances, and those of ranks.
template <class N, bool ranks, class Group>
ODRPO_HD typename N::F factor_of_one(const EstimatorView& e, const Group& g, const Deviations<N, Group, ranks>& d) {
  if constexpr (ranks) {
    return factor_of_ranks<N>(e, d.n, d.spread);
  } else {
    using F = typename N::F;
    if (!(d.spread > 0)) return 0;
    const F n = static_cast<F>(d.n), eps = static_cast<F>(e.eps);
    typename N::I total = 0;
    for (int i = g.first(), to; i < g.end(); i = to) {
      to = g.next(i);
      const typename N::I away = d.at(i, to);
      total += (g.reach(i) - g.reach(to)) * (away < 0 ? -away : away);
    }
    return n / (N::real(total) + n * eps);
  }
}
/// True for the divisors of factor_of_one().
template <bool ranks>
ODRPO_HD bool divides_one(const EstimatorView& e) {
  if constexpr (ranks) return e.divisor == Divisor::quarter_range || e.divisor == Divisor::place_deviation;
  return e.divisor == Divisor::distances;
}

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
    typename N::F by = factor<N>(e, n, d.total(), d.spread, zero);
    if constexpr (has_rare_forms<Group>)
      if (divides_one<ranks>(e)) by = factor_of_one<N, ranks>(e, g, d);
    for (int i = g.first(), to; i < g.end(); i = to) {
      to = g.next(i);
      out.put(i, N::real(d.at(i, to)) * by);
    }
    return;
  }
  for (int i = g.first(), to; i < g.end(); i = to) {  // divide by the deviation of the other members, unless it is 0
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

/// The form mc-grpo: (value - median) / (MAD + 0.001) n / #(value != median), MAD = median of |value - median|. Both are lower medians,
/// found by counting members.
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
  I mad = 0;  // the smallest distance such that more than `below` members are at most that far from the median
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

/// Forms that divide the distance from a reward of the group by its standard deviation: from the quantile, or of the best from the second
/// best (Centre::quantile, Centre::second).
template <class N, class Group, class Out>
ODRPO_HD void around_reward(const EstimatorView& e, const Group& g, Out out) {
  using I = typename N::I;
  using F = typename N::F;
  const Deviations<N, Group, false> d = Deviations<N, Group, false>::of(e, g);
  const int n = d.n;
  const bool second = e.centre == Centre::second;
  bool found = false;
  I centre = 0;
  for (int i = g.first(), to; i < g.end() && !found; i = to) {
    to = g.next(i);
    if (g.reach(i) == g.reach(to)) continue;
    found = second ? g.reach(to) < 2 : static_cast<double>(n - g.reach(to)) / n >= e.kappa;
    centre = static_cast<I>(g.value(i));
  }
  const F by = factor<N>(e, n, d.total(), d.spread, 0);
  for (int i = g.first(); i < g.end(); i = g.next(i)) {
    const I away = n * (static_cast<I>(g.value(i)) - centre);
    out.put(i, second && away < 0 ? F(0) : N::real(away) * by);
  }
}

/// The form corpo: value - max(mean, r_min), which is the smaller of two differences. Groups of any size, equal rewards too.
template <class N, class Group, class Out>
ODRPO_HD void over_floor(const EstimatorView& e, const Group& g, Out out) {
  using F = typename N::F;
  const Deviations<N, Group, false> d = Deviations<N, Group, false>::of(e, g);
  const F size = static_cast<F>(d.n);
  for (int i = g.first(), to; i < g.end(); i = to) {
    to = g.next(i);
    const F own = N::real(d.at(i, to)) / size, above = static_cast<F>(static_cast<double>(g.value(i)) - e.r_min);
    out.put(i, own < above ? own : above);
  }
}

template <class N, class Group, class Out>
ODRPO_HD void scale(const EstimatorView& e, const Group& g, Out out) {
  if constexpr (requires { g.twice_rank(0, 0); })
    if (e.basis == Basis::rank) return scale<N, true>(e, g, out);
  scale<N, false>(e, g, out);
}

/// The advantage of a group of one.
template <class Group>
ODRPO_HD double alone(const EstimatorView& e, const Group& g) {
  const double own = g.value(0);
  if (e.basis == Basis::bit) return own > 1 ? (own - 1) * e.rule.single : 0.0;  // own - 1 = sum of 2^b over its bits
  if (e.basis != Basis::level) return (own - e.shift) * e.lone_factor;
  if (!(own > 0)) return 0;
  return weight_of_gap(e, count_of(e.weight, e.rule, 1, 1), 0, own, damping_of(e, median_of(e, g))) * e.rule.single;
}

/// True if a group of n can have advantages other than 0: its rewards differ, or its convention gives something to a group of one. (Equal
/// rewards get something from Centre::floored too.)
ODRPO_HD bool teaches(const EstimatorView& e, bool all_equal, int n) { return n > 0 && (!all_equal || (n == 1 && e.lone)); }

/// Calls out.put(i, advantage) for each entry i of a group. A group of integer scores has all its `rollouts`, two or more; equal scores get
/// zeros. A group of real rewards has any size, teaches() is true for it, and it is sorted where EstimatorView::ordered.
template <class N, class Group, class Out>
ODRPO_HD void estimate(const EstimatorView& e, const Group& g, Out out) {
  if (e.basis != Basis::level) {
    if constexpr (has_rare_forms<Group>)
      if (e.centre == Centre::floored) return over_floor<N>(e, g, out);
    if constexpr (!N::exact)
      if (g.end() == 1) return out.put(0, alone(e, g));
    if constexpr (has_bits<N, Group>)
      if (e.basis == Basis::bit) return sum_bits<N>(e, g, out);
    if (e.centre == Centre::median) return around_median<N>(e, g, out);
    if constexpr (has_rare_forms<Group>)
      if (is_reward(e.centre)) return around_reward<N>(e, g, out);
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
