// Groups of whole scores as a device's threads estimate them: how one reads its group and where it leaves the advantages. What it computes
// is the function of estimators/group.hpp, so the bits are the host's.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "estimators/batch.hpp"
#include "estimators/group.hpp"
#include "kernels/bytes.hpp"
#include "kernels/math.hpp"

namespace odrpo::group_pass {

// A pass is two functions: prepare() reads a group once and leaves what its members need in a column; member() turns a member's score
// into its advantage with that. On the device any lane may then write any member, so that stores fill whole lines. ByCounts serves every
// form and group; Halves and BySums are the faster ones of the usual groups, as in batch_stage.cpp.

/// Numbers of one group, `stride` apart: a column of shared memory, where the lanes of a warp meet in no bank.
struct Column {
  std::uint32_t* at;
  int stride;
};
ODRPO_HD void put(Column c, int row, std::int32_t x) { c.at[row * c.stride] = static_cast<std::uint32_t>(x); }
ODRPO_HD void put(Column c, int row, float x) { c.at[row * c.stride] = __builtin_bit_cast(std::uint32_t, x); }
ODRPO_HD std::int32_t whole(Column c, int row) { return static_cast<std::int32_t>(c.at[row * c.stride]); }
ODRPO_HD float real(Column c, int row) { return __builtin_bit_cast(float, c.at[row * c.stride]); }

/// A group's scores: G of them, 8 or 16, in words of four; or any number in memory.
template <int G>
struct Packed {
  std::uint32_t word[G / 4];
};
struct Loose {
  const std::uint8_t* score;
  int count;
};
template <int G>
ODRPO_HD int members(const Packed<G>&) {
  return G;
}
ODRPO_HD int members(const Loose& g) { return g.count; }
template <int G>
ODRPO_HD int score(const Packed<G>& g, int i) {
  return byte_of(g.word[i / 4], i % 4);
}
ODRPO_HD int score(const Loose& g, int i) { return g.score[i]; }
/// Members with score >= level, for scores and levels up to 31.
template <int G>
ODRPO_HD int reach(const Packed<G>& g, int level) {
  std::uint32_t marks = 0;  // a bit a member: of word j bit 7 - j of its byte
  for (int j = 0; j < G / 4; ++j) marks |= j < 3 ? bytes_from(g.word[j], level, 7 - j) : bytes_from(g.word[j], level, 7) >> j;
  return count_ones(marks);
}
/// Advantages by score in a column.
struct InColumn {
  Column column;
  constexpr void put(int v, float x) const { column.at[v * column.stride] = __builtin_bit_cast(std::uint32_t, x); }
  constexpr float get(int v) const { return __builtin_bit_cast(float, column.at[v * column.stride]); }
};

/// Forms of levels, at most 16 of them, groups of 8 or 16. `fixed` levels, or those of the view when 0. Rows: advantage by score.
template <int fixed>
struct Halves {
  EstimatorView e;
};
template <int fixed>
ODRPO_HD int rows(const Halves<fixed>& p) {
  return (fixed > 0 ? fixed : p.e.levels) + 1;
}
template <int fixed, int G>
ODRPO_HD void prepare(const Halves<fixed>& p, const Packed<G>& g, Column c) {
  const auto reached = [&](int k) { return reach(g, k); };
  if constexpr (fixed == 0) {
    group::sum_halves<true>(p.e, p.e.levels, G, reached, InColumn{c});
  } else {  // sums stay in registers
    float sums[fixed + 1];
    group::sum_halves<true>(p.e, fixed, G, reached, group::Array<float>{sums});
    for (int v = 0; v <= fixed; ++v) put(c, v, sums[v]);
  }
}
template <int fixed>
ODRPO_HD float member(const Halves<fixed>&, Column c, int score, int) {
  return real(c, score);
}

/// Any form, any group. Rows: members that reach each score 0..levels + 1, and in their place the advantage by score.
template <class Numbers = group::WholeNumbers>
struct ByCounts {
  EstimatorView e;
};
ODRPO_HD int rows_by_counts(int levels) { return levels + 2; }
template <class Numbers>
ODRPO_HD int rows(const ByCounts<Numbers>& p) {
  return rows_by_counts(p.e.levels);
}
/// A group of estimators/group_entries.hpp whose counts are in a column.
struct CountsInColumn {
  Column column;
  int levels, count;
  constexpr int first() const { return 0; }
  constexpr int end() const { return levels + 1; }
  constexpr int next(int i) const { return i + 1; }
  constexpr int value(int i) const { return i; }
  constexpr int reach(int i) const { return static_cast<int>(column.at[i * column.stride]); }
  constexpr int twice_rank(int i, int to) const { return 2 * count - reach(i) - reach(to); }
};
template <class Numbers, class Group>
ODRPO_HD void prepare(const ByCounts<Numbers>& p, const Group& g, Column c) {
  const int levels = p.e.levels;
  for (int v = 0; v <= levels + 1; ++v) put(c, v, 0);
  for (int i = 0; i < members(g); ++i) {
    const int s = score(g, i), row = s < levels ? s : levels;
    put(c, row, whole(c, row) + 1);
  }
  for (int v = levels - 1; v >= 0; --v) put(c, v, whole(c, v) + whole(c, v + 1));
  group::estimate<Numbers>(p.e, CountsInColumn{c, levels, members(g)}, InColumn{c});
}
template <class Numbers>
ODRPO_HD float member(const ByCounts<Numbers>&, Column c, int score, int) {
  return real(c, score);
}

/// Sum of a group's scores and of their squares.
struct Sums {
  std::int32_t score, square;
};
template <int G>
ODRPO_HD Sums sums(const Packed<G>& g) {
  std::uint32_t s = 0, q = 0;
  for (int j = 0; j < G / 4; ++j) {
    s = add_products(g.word[j], 0x01010101u, s);
    q = add_products(g.word[j], g.word[j], q);
  }
  return {static_cast<std::int32_t>(s), static_cast<std::int32_t>(q)};
}
ODRPO_HD Sums sums(const Loose& g) {
  Sums t = {0, 0};
  for (int i = 0; i < g.count; ++i) {
    t.score += g.score[i];
    t.square += g.score[i] * g.score[i];
  }
  return t;
}

/// Forms that only sums over the group decide. Rows: the sum and the factor.
struct BySums {
  EstimatorView e;
};
ODRPO_HD int rows(const BySums&) { return 2; }
template <class Group>
ODRPO_HD void prepare(const BySums& p, const Group& g, Column c) {
  const Sums t = sums(g);
  const int n = members(g);
  put(c, 0, t.score);
  put(c, 1, group::factor<group::WholeNumbers>(p.e, n, t.score - p.e.shift * n, n * t.square - t.score * t.score, 0));
}
ODRPO_HD float member(const BySums&, Column c, int score, int n) { return static_cast<float>(n * score - whole(c, 0)) * real(c, 1); }

/// Groups of one: an advantage by score, made by the host. `e.term` has one for each score 0..levels.
struct Alone {
  EstimatorView e;
};
ODRPO_HD int rows(const Alone&) { return 0; }
template <class Group>
ODRPO_HD void prepare(const Alone&, const Group&, Column) {}
ODRPO_HD float member(const Alone& p, Column, int score, int) { return p.e.term[score]; }

/// The fixed sizes of group: calls run(pass, G) with a constant G of 8 or 16, or 0 = any.
template <class P, class Run>
void by_size(const P& pass, Run run) {
  if (pass.e.rollouts == 8) return run(pass, std::integral_constant<int, 8>{});
  if (pass.e.rollouts == 16) return run(pass, std::integral_constant<int, 16>{});
  run(pass, std::integral_constant<int, 0>{});
}

/// Calls run(pass, constant size) with the pass for an estimator's groups.
template <class Run>
void choose(const EstimatorView& e, Run run) {
  if (e.rollouts == 1) return run(Alone{e}, std::integral_constant<int, 0>{});
  if (!group::needs_order(e)) return by_size(BySums{e}, run);
  if (e.basis != Basis::level || !group::in_halves(e)) return by_size(ByCounts<>{e}, run);
  const auto sized = [&](const auto& p) {
    if (e.rollouts == 8) run(p, std::integral_constant<int, 8>{});
    else run(p, std::integral_constant<int, 16>{});
  };
  if (e.levels == 10) return sized(Halves<10>{e});
  if (e.levels == 5) return sized(Halves<5>{e});
  sized(Halves<0>{e});
}

}  // namespace odrpo::group_pass
