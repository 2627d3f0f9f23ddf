// The passes of the batch form as one thread does them for one group: what a GPU runs, and a host twin in the tests. Same bits as the
// stages.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "estimators/batch.hpp"
#include "kernels/bytes.hpp"
#include "kernels/math.hpp"

namespace odrpo::group_pass {

// A pass is two functions: prepare() reads a group once and leaves what its members need in a column; member() turns a member's score
// into its advantage with that. On the device any lane may then write any member, so that stores fill whole lines.

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
/// What a level adds to the median of a group of which `count` reach it (0, 1, or 2 of rule mid).
ODRPO_HD int median_steps(const EstimatorView& e, int count) {
  return (e.lower_reach > 0 && count >= e.lower_reach) + (e.upper_reach > 0 && count >= e.upper_reach);
}

struct Term {
  float reached, centre;  ///< what reaching a level adds, and what all give up for it
};
template <bool still>
ODRPO_HD Term term_at(const float* level, int count) {
  if constexpr (!still) return {level[2 * count], level[2 * count + 1]};
  const Two t = load_two(level + 2 * count);
  return {t.x, t.y};
}

// `still`: nobody writes the terms while they are read. A lane that follows a running median remakes its own.

/// Ordinal, at most 16 levels, groups of 8 or 16: sums over the lower and the upper levels apart (half_sums of batch_stage.cpp).
/// `fixed` levels, or those of the view when 0. Rows: advantage by score.
template <int fixed, bool still = true>
struct Halves {
  EstimatorView e;
};
template <int fixed, bool still>
ODRPO_HD int levels_of(const Halves<fixed, still>& p) {
  return fixed > 0 ? fixed : p.e.levels;
}
template <int fixed, bool still>
ODRPO_HD int rows(const Halves<fixed, still>& p) {
  return levels_of(p) + 1;
}
template <int fixed, bool still, int G>
ODRPO_HD void prepare(const Halves<fixed, still>& p, const Packed<G>& g, Column c) {
  const int levels = levels_of(p), middle = levels / 2;
  const float* term = p.e.term;
  if (p.e.class_size > 0) {
    int median = 0;
    for (int k = 1; k <= levels; ++k) median += median_steps(p.e, reach(g, k));
    term += median * p.e.class_size;
  }
  // each half's sums, kept in registers where their number is fixed, else in the rows; then both less what all give up for them
  float sums[fixed + 1];
  const auto keep = [&](int k, float x) {
    if constexpr (fixed > 0) sums[k] = x;
    else put(c, k, x);
  };
  const auto kept = [&](int k) {
    if constexpr (fixed > 0) return sums[k];
    else return real(c, k);
  };
  float sum = 0, centre = 0;
  keep(0, sum);
  for (int k = 1; k <= middle; ++k) {
    const Term t = term_at<still>(term + 2 * k * (G + 1), reach(g, k));
    sum += t.reached;
    centre += t.centre;
    keep(k, sum);
  }
  const float below = centre, low = sum - below;
  sum = centre = 0;
  for (int k = middle + 1; k <= levels; ++k) {
    const Term t = term_at<still>(term + 2 * k * (G + 1), reach(g, k));
    sum += t.reached;
    centre += t.centre;
    keep(k, sum);
  }
  const float none = 0.0f - centre;  // of the upper half, for those who reach none of it
  for (int k = 0; k <= middle; ++k) put(c, k, (kept(k) - below) + none);
  for (int k = middle + 1; k <= levels; ++k) put(c, k, low + (kept(k) - centre));
}
template <int fixed, bool still>
ODRPO_HD float member(const Halves<fixed, still>&, Column c, int score, int) {
  return real(c, score);
}

// reach by level in rows 0..levels+1, from counts of scores
template <class Group>
ODRPO_HD void put_reach(const Group& g, int levels, Column c) {
  for (int v = 0; v <= levels + 1; ++v) put(c, v, 0);
  for (int i = 0; i < members(g); ++i) {
    const int s = score(g, i), row = s < levels ? s : levels;
    put(c, row, whole(c, row) + 1);
  }
  for (int v = levels - 1; v >= 0; --v) put(c, v, whole(c, v) + whole(c, v + 1));
}

/// Ordinal on any scale, summed in double (one_sum of batch_stage.cpp). Rows: advantage by score.
template <bool still>
struct OneSumOf {
  EstimatorView e;
};
using OneSum = OneSumOf<true>;
template <bool still>
ODRPO_HD int rows(const OneSumOf<still>& p) {
  return p.e.levels + 2;
}
template <bool still, class Group>
ODRPO_HD void prepare(const OneSumOf<still>& p, const Group& g, Column c) {
  const int levels = p.e.levels, stride = members(g) + 1;
  put_reach(g, levels, c);
  const float* term = p.e.term;
  if (p.e.class_size > 0) {
    int median = 0;
    for (int k = 1; k <= levels; ++k) median += median_steps(p.e, whole(c, k));
    term += static_cast<std::size_t>(median) * p.e.class_size;
  }
  double sum = 0, centre = 0;
  for (int k = 1; k <= levels; ++k) centre += term_at<still>(term + 2 * k * stride, whole(c, k)).centre;
  put(c, 0, static_cast<float>(-centre));
  for (int k = 1; k <= levels; ++k) {
    sum += term_at<still>(term + 2 * k * stride, whole(c, k)).reached;
    put(c, k, static_cast<float>(sum - centre));
  }
}
template <bool still>
ODRPO_HD float member(const OneSumOf<still>&, Column c, int score, int) {
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

/// (G r - sum r) * inverse (cardinal_inverse of batch_cardinal.inl). Rows: the sum and the inverse.
struct Cardinal {
  EstimatorView e;
};
ODRPO_HD int rows(const Cardinal&) { return 2; }
ODRPO_HD float inverse_of(const EstimatorView& e, std::int32_t n, Sums t) {
  const std::int32_t variance = n * t.square - t.score * t.score;
  if (variance <= 0) return 0.0f;
  const float size = static_cast<float>(n);
  switch (e.form) {
    case Form::rloo: return 1.0f / (size - 1.0f);
    case Form::grpo: {
      const float sigma = math::sqrt(static_cast<float>(variance) / static_cast<float>(n * (n - e.ddof)));
      return 1.0f / (size * (sigma + e.eps));
    }
    case Form::maxrl: {
      const std::int32_t shifted = t.score - e.shift * n;
      return e.guard && shifted <= 0 ? 0.0f : 1.0f / (static_cast<float>(shifted) + size * e.eps);
    }
    default: return 1.0f / size;
  }
}
template <class Group>
ODRPO_HD void prepare(const Cardinal& p, const Group& g, Column c) {
  const Sums t = sums(g);
  put(c, 0, t.score);
  put(c, 1, inverse_of(p.e, members(g), t));
}
ODRPO_HD float member(const Cardinal&, Column c, int score, int n) { return static_cast<float>(n * score - whole(c, 0)) * real(c, 1); }

/// grpo against the other members (against_others of batch_cardinal.inl). Rows: the sums.
struct Others {
  EstimatorView e;
};
ODRPO_HD int rows(const Others&) { return 2; }
template <class Group>
ODRPO_HD void prepare(const Others&, const Group& g, Column c) {
  const Sums t = sums(g);
  put(c, 0, t.score);
  put(c, 1, t.square);
}
ODRPO_HD float member(const Others& p, Column c, int score, int n) {
  const std::int32_t sum = whole(c, 0), others = n - 1, pairs = others * (others - p.e.ddof), rest = sum - score;
  const std::int32_t variance = others * (whole(c, 1) - score * score) - rest * rest;
  const float own = static_cast<float>(n * score - sum) * (1.0f / static_cast<float>(others));
  return variance > 0 ? own / (math::sqrt(static_cast<float>(variance) / static_cast<float>(pairs)) + p.e.eps) : own;
}

/// z-scores of average ranks (rank of batch_cardinal.inl). Rows: advantage by score.
struct Rank {
  EstimatorView e;
};
ODRPO_HD int rows(const Rank& p) { return p.e.levels + 2; }
template <class Group>
ODRPO_HD void prepare(const Rank& p, const Group& g, Column c) {
  const std::int32_t n = members(g);
  put_reach(g, p.e.levels, c);
  std::int32_t squares = 0;
  for (int v = 0; v <= p.e.levels; ++v) {  // twice the average rank less its mean, of those with score v
    const std::int32_t at = whole(c, v), above = whole(c, v + 1), d = n - at - above;
    squares += (at - above) * d * d;
  }
  const float sigma = math::sqrt(static_cast<float>(squares) / static_cast<float>(n));
  const float inverse = squares > 0 ? 1.0f / (sigma + 2.0f * p.e.eps) : 0.0f;
  for (int v = 0; v <= p.e.levels; ++v) put(c, v, static_cast<float>(n - whole(c, v) - whole(c, v + 1)) * inverse);
}
ODRPO_HD float member(const Rank&, Column c, int score, int) { return real(c, score); }

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

/// Calls run(pass, constant size) with the pass that gives the bits of `pass` on the host.
template <class Run>
void choose(const EstimatorView& e, Pass pass, Run run) {
  const bool halves = (e.rollouts == 8 || e.rollouts == 16) && e.levels <= 16;
  const auto sized = [&](const auto& p) {
    if (e.rollouts == 8) run(p, std::integral_constant<int, 8>{});
    else run(p, std::integral_constant<int, 16>{});
  };
  if (e.rollouts == 1) return run(Alone{e}, std::integral_constant<int, 0>{});
  switch (pass) {
    case Pass::ordinal:
      if (!halves) return run(OneSum{e}, std::integral_constant<int, 0>{});
      if (e.levels == 10) return sized(Halves<10>{e});
      if (e.levels == 5) return sized(Halves<5>{e});
      return sized(Halves<0>{e});
    case Pass::cardinal: return e.others ? by_size(Others{e}, run) : by_size(Cardinal{e}, run);
    case Pass::rank:
      if (halves) return sized(Rank{e});
      return run(Rank{e}, std::integral_constant<int, 0>{});
  }
}

}  // namespace odrpo::group_pass
