// Scores by their bits: r - 1 written in binary, and the advantages of a group from what each bit gives. A part of estimators/group/group.hpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "estimators/group/entries.hpp"

namespace odrpo {

/// The bits of r - 1 for scores up to `levels`: the least n with 2^n >= levels.
ODRPO_HD int bits_of(int levels) {
  int bits = 0;
  while ((1 << bits) < levels) ++bits;
  return bits;
}

/// Bit b of r - 1. A failed score of 0 has the bits of level 1: none.
ODRPO_HD int bit_of(int score, int b) { return score > 1 ? ((score - 1) >> b) & 1 : 0; }

/// A score whose bits count one by one: the term of bit b has the weight 2^b.
ODRPO_HD double bit_weight(int b) { return static_cast<double>(1 << b); }

namespace ODRPO_ISA::group {

// How many members have each bit, without an array: a field of nine binary digits for each of up to seven bits. Groups of bits have at most
// 255 members, and scores at most 100 levels.

/// The fields of so many members with one score; the sum over a group's scores is the group's.
ODRPO_HD std::uint64_t bit_fields(int score, int members, int bits) {
  std::uint64_t fields = 0;
  for (int b = 0; b < bits; ++b)
    if (bit_of(score, b) != 0) fields += static_cast<std::uint64_t>(members) << (9 * b);
  return fields;
}
ODRPO_HD int members_with(std::uint64_t fields, int b) { return static_cast<int>(fields >> (9 * b)) & 511; }

/// Which groups have bits. Those with missing scores, in doubles, have them on the host alone: on a device their divisions would cost every
/// run registers, and train/batched/run_layout.cpp refuses such runs.
template <class N, class Group>
inline constexpr bool has_bits = N::exact || std::is_same_v<Group, Sorted<const double*>>;

/// Advantages of a group of whole scores: each bit gives those that have it `reached`, and the others `missed`. Whole numbers read the
/// table of terms; real ones, which groups with missing scores have, work the shares out.
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
