// Computes the forms that sum over levels, over gaps between real rewards, or over bits of scores; for group.hpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "estimators/group/entries.hpp"
#include "kernels/portable.hpp"

namespace odrpo::ODRPO_ISA::group {

/// Makes one pass over the levels (or gaps) k = from..to. at(k) is what level k adds: `reached` to the members that reach it; `centre` is
/// subtracted from every member. Calls keep(k, sum of `reached` up to k), and returns the sum of `centre`.
template <class T, class At, class Keep>
ODRPO_HD T running_sums(int from, int to, At at, Keep keep) {
  T sum = 0, centre = 0;
  for (int k = from; k <= to; ++k) {
    const auto term = at(k);
    sum += term.reached;
    centre += term.centre;
    keep(k, sum);
  }
  return centre;
}

/// Reads from one level's part of EstimatorView::term what the level adds when `count` members reach it. `still`: nobody writes the table
/// meanwhile, so a GPU may read it through its read-only cache.
template <bool still>
ODRPO_HD LevelTerm term_at(const float* level, int count) {
  const float* at = level + 2 * count;
#if defined(__CUDA_ARCH__)
  if constexpr (still) {
    const float2 t = __ldg(reinterpret_cast<const float2*>(at));
    return {t.x, t.y};
  }
#endif
  return {at[0], at[1]};
}
/// The part of EstimatorView::term that applies to a group's median; reach(k) = number of members that reach level k.
template <class Reach>
ODRPO_HD const float* terms_of(const EstimatorView& e, int levels, Reach reach) {
  if (e.class_size == 0) return e.term;
  int median = 0;
  for (int k = 1; k <= levels; ++k) {
    const int count = reach(k);
    median += (e.lower_reach > 0 && count >= e.lower_reach) + (e.upper_reach > 0 && count >= e.upper_reach);
  }
  return e.term + static_cast<std::size_t>(median) * static_cast<std::size_t>(e.class_size);
}

/// True if the lower and the upper half of the levels have separate sums in float, as in HalvesTable (kernels/group_table.hpp). Otherwise
/// one sum in double has all levels.
ODRPO_HD bool in_halves(const EstimatorView& e) { return (e.rollouts == 8 || e.rollouts == 16) && e.levels <= 16; }

/// Advantages by score of a group of n integer scores, with separate sums for the lower and the upper half of the levels.
template <bool still, class Reach, class Out>
ODRPO_HD void sum_halves(const EstimatorView& e, int levels, int n, Reach reach, Out out) {
  const int middle = levels / 2;
  const float* term = terms_of(e, levels, reach);
  const auto at = [&](int k) { return term_at<still>(term + 2 * k * (n + 1), reach(k)); };
  const auto keep = [&](int k, float sum) { out.put(k, sum); };
  out.put(0, 0.0f);
  const float below = running_sums<float>(1, middle, at, keep), low = out.get(middle) - below;
  const float above = running_sums<float>(middle + 1, levels, at, keep), none = 0.0f - above;
  for (int k = 0; k <= middle; ++k) out.put(k, (out.get(k) - below) + none);
  for (int k = middle + 1; k <= levels; ++k) out.put(k, low + (out.get(k) - above));
}
/// Advantages by score of a group of n integer scores, with one sum for all levels.
template <bool still, class Reach, class Out>
ODRPO_HD void sum_at_once(const EstimatorView& e, int levels, int n, Reach reach, Out out) {
  const float* term = terms_of(e, levels, reach);
  const auto at = [&](int k) { return term_at<still>(term + 2 * k * (n + 1), reach(k)); };
  const double centre = running_sums<double>(1, levels, at, [](int, double) {});
  out.put(0, static_cast<float>(-centre));
  running_sums<double>(1, levels, at, [&](int k, double sum) { out.put(k, static_cast<float>(sum - centre)); });
}

/// A function of a real level that is constant in each (k - 1, k], with its running sums, so that an integral costs O(1).
struct LevelSums {
  const double *step, *sum;  ///< its value in (k - 1, k], and the sum of its values 1..k
  int top;                   ///< the last level; above it the function stays at step[top + 1]
};
ODRPO_HD LevelSums shape_of(const EstimatorView& e) { return {e.along, e.along + (e.levels + 2), e.levels}; }
ODRPO_HD LevelSums grown_of(const EstimatorView& e) { return {e.along + 2 * (e.levels + 2), e.along + 3 * (e.levels + 2), e.levels}; }
/// The integral of the function from low to high, 0 <= low <= high.
ODRPO_HD double between(const LevelSums& of, double low, double high) {
  int a = static_cast<int>(low), b = static_cast<int>(high);
  a = a < of.top ? a : of.top;
  b = b < of.top ? b : of.top;
  if (a == b) return of.step[a + 1] * (high - low);
  return of.step[a + 1] * (a + 1 - low) + (of.sum[b] - of.sum[a + 1]) + of.step[b + 1] * (high - b);
}

ODRPO_HD LevelCount count_of(Weight weight, const LevelRule& rule, int count, int group) {
  const double variance = level_variance(count, group), fixed = level_mix(weight, variance, 0);
  return {level_shares(rule, 1.0, count, group), fixed, level_mix(weight, variance, 1) - fixed};
}

/// How the weight gini-median damps levels below the group's median: by `factor` e^(k/2) for levels k <= `below`; not at all above.
struct Damping {
  double below, factor;
};
ODRPO_HD Damping damping_of(const EstimatorView& e, double median) {
  if (!reads_median(e.weight) || !(median > 0)) return {0, 1};
  return {static_cast<double>(static_cast<int>(median)), median_decay(median, 0)};  // e^((k - Med) / 2) = e^(-Med / 2) e^(k / 2)
}

/// The weight of a gap between two rewards: the integral of w from low to high, in which each level k counts Delta_k times.
ODRPO_HD double weight_of_gap(const EstimatorView& e, const LevelCount& c, double low, double high, const Damping& damping) {
  if (e.weight == Weight::uniform && !e.spaced) return high - low;
  low = low > 0 ? low : 0;
  if (!(high > low)) return 0;
  const LevelSums shape = shape_of(e);
  const double plain = c.fixed * between(shape, low, high), below = damping.below;
  if (c.slope == 0) return plain;
  double damped = 0;
  if (low < below) damped += damping.factor * between(grown_of(e), low, high < below ? high : below);
  if (high > below) damped += between(shape, low > below ? low : below, high);
  return plain + c.slope * damped;
}

/// The median on which the weights of a sorted group depend.
template <class Group>
ODRPO_HD double median_of(const EstimatorView& e, const Group& g) {
  if (!reads_median(e.weight) || e.median == MedianRule::running) return e.running;
  const int n = g.end();
  const double lower = g.value((n - 1) / 2), upper = g.value(n / 2);
  if (e.median == MedianRule::lower) return lower;
  if (e.median == MedianRule::upper) return upper;
  return lower + (upper - lower) * 0.5;
}

/// Advantages of a sorted group of real rewards: every gap between neighbours adds `reached` to members above it, `missed` to those below.
template <class Group, class Out>
ODRPO_HD void sum_gaps(const EstimatorView& e, const Group& g, Out out) {
  struct Term {
    double reached, centre;
  };
  const int n = g.end();
  const Damping damping = damping_of(e, median_of(e, g));
  const auto at = [&](int i) {
    const double low = g.value(i - 1), high = g.value(i);
    if (!(high > low)) return Term{0, 0};
    const LevelCount c = n == e.rollouts ? e.counts[n - i] : count_of(e.weight, e.rule, n - i, n);
    const double weight = weight_of_gap(e, c, low, high, damping);
    return Term{weight * (c.shares.reached - c.shares.missed), -(weight * c.shares.missed)};
  };
  out.put(0, 0.0);
  const double centre = running_sums<double>(1, n - 1, at, [&](int i, double sum) { out.put(i, sum); });
  for (int i = 0; i < n; ++i) out.put(i, out.get(i) - centre);
}
}  // namespace odrpo::ODRPO_ISA::group

// The form odrpo-bitwise: r - 1 is written in binary, and an advantage is the sum of what each bit adds.

namespace odrpo {

/// How many bits r - 1 has for scores r up to `levels`: the least n with 2^n >= levels.
ODRPO_HD int bits_of(int levels) {
  int bits = 0;
  while ((1 << bits) < levels) ++bits;
  return bits;
}

/// Bit b of r - 1. A failed score of 0 has the bits of level 1: none.
ODRPO_HD int bit_of(int score, int b) { return score > 1 ? ((score - 1) >> b) & 1 : 0; }

/// The weight of bit b in the sum over bits: 2^b.
ODRPO_HD double bit_weight(int b) { return static_cast<double>(1 << b); }

namespace ODRPO_ISA::group {

// How many members have each bit, packed into 64 bits instead of an array: nine binary digits for each of up to seven bits. That is enough,
// since these groups have at most 255 members, and scores have at most 100 levels.

/// The packed counts of `members` members who all have one score. Adding them up over the scores of a group gives the group's counts.
ODRPO_HD std::uint64_t bit_fields(int score, int members, int bits) {
  std::uint64_t fields = 0;
  for (int b = 0; b < bits; ++b)
    if (bit_of(score, b) != 0) fields += static_cast<std::uint64_t>(members) << (9 * b);
  return fields;
}
ODRPO_HD int members_with(std::uint64_t fields, int b) { return static_cast<int>(fields >> (9 * b)) & 511; }

/// Which forms are compiled for a kind of group, besides those for all kinds. What is left out would cost every run of a device registers;
/// train/batched/run_layout.cpp refuses runs that would need it. has_rare_forms: forms of other centres and divisors than means and deviations,
/// on the host only. has_bits: odrpo-bitwise, on devices of groups of integer scores.
template <class Group>
inline constexpr bool has_rare_forms = std::is_same_v<Group, Sorted<const double*>> || requires(Group g) { g.reached; } || requires(Group g) { g.score; };
template <class N, class Group>
inline constexpr bool has_bits = N::exact || has_rare_forms<Group>;

/// Computes advantages of a group of integer scores: each bit adds `reached` to members that have it, `missed` to the others. WholeNumbers
/// read both from EstimatorView::term; RealNumbers, for groups with missing scores, compute them.
template <class N, class Group, class Out>
ODRPO_HD void sum_bits(const EstimatorView& e, const Group& g, Out out) {
  const int n = g.reach(g.first()), bits = bits_of(e.levels);
  std::uint64_t fields = 0;
  for (int i = g.first(), to; i < g.end(); i = to) {
    to = g.next(i);
    fields += bit_fields(static_cast<int>(g.value(i)), g.reach(i) - g.reach(to), bits);
  }
  for (int i = g.first(); i < g.end(); i = g.next(i)) {
    const int score = static_cast<int>(g.value(i));
    double sum = 0;
    for (int b = 0; b < bits; ++b) {
      const bool has = bit_of(score, b) != 0;
      const int count = members_with(fields, b);
      if constexpr (N::exact) {
        sum += static_cast<double>(e.term[2 * (b * (n + 1) + count) + (has ? 0 : 1)]);
      } else {
        const LevelShares shares = level_shares(e.rule, bit_weight(b), count, n);
        sum += has ? shares.reached : shares.missed;
      }
    }
    out.put(i, static_cast<typename N::F>(sum));
  }
}

}  // namespace ODRPO_ISA::group
}  // namespace odrpo
