// A run's groups of integer scores, each by one thread of its block, so that runs of any estimators share a launch; and whitening by one tile.
// What it computes of a group is the function of estimators/group/group.hpp, so the bits are the host's.
#pragma once
#include <cstdint>

#include "estimators/batch.hpp"
#include "estimators/group/entries.hpp"
#include "estimators/group/group.hpp"
#include "kernels/float_math.hpp"

namespace odrpo::device {

/// Numbers of one group, `stride` apart: a column of shared memory, where the lanes of a warp meet in no bank.
struct ScoreColumn {
  std::uint32_t* at;
  int stride;
};
/// Advantages by score in a column.
struct InColumn {
  ScoreColumn column;
  constexpr void put(int v, float x) const { column.at[v * column.stride] = __builtin_bit_cast(std::uint32_t, x); }
  constexpr float get(int v) const { return __builtin_bit_cast(float, column.at[v * column.stride]); }
};
/// A group of estimators/group/entries.hpp whose counts are in a column: members that reach each score 0..levels + 1.
struct CountsInColumn {
  ScoreColumn column;
  int levels, count;
  constexpr int first() const { return 0; }
  constexpr int end() const { return levels + 1; }
  constexpr int next(int i) const { return i + 1; }
  constexpr int value(int i) const { return i; }
  constexpr int reach(int i) const { return static_cast<int>(column.at[i * column.stride]); }
  constexpr int twice_rank(int i, int to) const { return 2 * count - reach(i) - reach(to); }
};

/// Rows of a column that an estimator needs.
ODRPO_HD int column_rows(int levels) { return levels + 2; }

/// Reads one group's scores, two or more, and leaves in `c` the advantages by score. Numbers: whether the terms stay (estimators/group/group.hpp).
template <class Numbers = group::WholeNumbers>
ODRPO_HD void prepare(const EstimatorView& e, const std::uint8_t* score, ScoreColumn c) {
  const int levels = e.levels;
  for (int v = 0; v <= levels + 1; ++v) c.at[v * c.stride] = 0;
  for (int i = 0; i < e.rollouts; ++i) {
    const int row = score[i] < levels ? score[i] : levels;
    c.at[row * c.stride] += 1;
  }
  std::uint32_t reach = 0;
  for (int v = levels; v >= 0; --v) c.at[v * c.stride] = reach += c.at[v * c.stride];
  group::estimate<Numbers>(e, CountsInColumn{c, levels, e.rollouts}, InColumn{c});
}
/// The advantage of a member of that group.
ODRPO_HD float member(ScoreColumn c, int score) { return InColumn{c}.get(score); }

/// What whitening does to each advantage of a batch.
struct Whitened {
  bool on = false, equal = false;  ///< equal: all that take part are the same, and become 0
  float mean = 0, inverse = 0;
};
template <class F>
ODRPO_HD F whitened(const Whitened& w, F advantage) {
  return !w.on ? advantage : w.equal ? F{} : (advantage - w.mean) * w.inverse;
}

/// Sum of f over those of n values that are mask (null = all), in the order of lane_sum of batch_stage.cpp.
template <class O, class G>
ODRPO_HD float lane_sum(const O& o, const float* x, const std::uint8_t* mask, int n, G f) {
  using F = typename O::F;
  F sum[4];
  ODRPO_UNROLL
  for (int j = 0; j < 4; ++j) sum[j] = O::splat(0.0f);
  for (int i = 0; i < n; i += 32) {
    ODRPO_UNROLL
    for (int j = 0; j < 4; ++j) {
      const int at = i + 8 * j, here = n - at;
      if (i + 32 <= n && mask == nullptr) {
        sum[j] += f(o.load(x + at));
      } else {
        const F weight = O::real(mask ? O::ones(o.load(mask + at, here, 0) != 0) : O::ones(o.lane() < here));
        sum[j] += weight * f(o.load(x + at, here, 0.0f));
      }
    }
  }
  return float_math::sum_lanes(o, sum);
}

/// How n advantages are whitened (`count` of them take part), by one tile. (whiten of batch_stage.cpp)
template <class O>
ODRPO_HD Whitened whitening_of(const O& o, const Whitening& w, const float* x, const std::uint8_t* mask, int n, int count) {
  using F = typename O::F;
  Whitened to;
  to.on = w.on;
  if (!w.on) return to;
  int first = 0;
  if (mask)
    while (first < n && mask[first] == 0) ++first;
  typename O::I same = O::ones(o.lane() == o.lane());
  for (int i = 0; i < n; i += 8) {
    const auto mine = o.load(x + i, n - i, 0.0f) == (first < n ? x[first] : 0.0f);
    const auto out = mask ? O::ones(o.load(mask + i, n - i, 0) == 0) : O::ones(o.lane() >= n - i);
    same &= O::ones(mine) | out;
  }
  to.equal = o.all(same == 1);
  if (to.equal) return to;
  // those that have no part count as 0 times what a zero would give
  const auto sum = [&](auto f) { return lane_sum(o, x, mask, n, f); };
  to.mean = sum([](F a) { return a; }) * (1.0f / static_cast<float>(count));
  const float mean = to.mean;
  const float variance = sum([mean](F a) { return (a - mean) * (a - mean); }) * (1.0f / static_cast<float>(count - w.ddof));
  const float scale = whitening_scale(w, variance);
  to.inverse = scale > 0 ? 1.0f / scale : 0.0f;
  return to;
}

// A group of real rewards as a block's threads estimate it together: each member finds its place, one thread runs the function of
// estimators/group/group.hpp, each member reads. Same bits as BatchEstimator::one.

/// Numbers of one group, `stride` apart, as in ScoreColumn.
struct Cells {
  double* at;
  int stride;
  constexpr double& operator[](int i) const { return at[i * stride]; }
  constexpr void put(int i, double x) const { at[i * stride] = x; }
  constexpr double get(int i) const { return at[i * stride]; }
};

/// First, for each member i of the `count` rewards that are there: to its place among them.
ODRPO_HD void place_member(const EstimatorView& e, Cells reward, Cells to, int count, int i) {
  if (!group::needs_order(e)) {
    to[i] = reward[i];
    return;
  }
  const double own = reward[i];
  int place = 0;
  for (int j = 0; j < count; ++j) place += reward[j] < own || (j < i && reward[j] == own);
  to[place] = own;
}

/// Then, once: the advantages of the rewards in `placed`, by place. Of groups that teach (group::teaches).
ODRPO_HD void estimate_group(const EstimatorView& e, Cells placed, Cells advantage, int count) {
  using namespace group;
  if (needs_order(e)) estimate<RealNumbers>(e, Sorted<Cells>{placed, count}, advantage);
  else estimate<RealNumbers>(e, Unsorted<Cells>{placed, count}, advantage);
}

/// Then, for each response i of `rollouts` that has a reward: where its advantage is. Equals have the same.
template <class T>
ODRPO_HD int place_of(const EstimatorView& e, const T* seen, int i, int rollouts) {
  int place = 0;
  if (group::needs_order(e)) {
    for (int j = 0; j < rollouts; ++j) place += present(seen[j]) && seen[j] < seen[i];
  } else {
    for (int j = 0; j < i; ++j) place += present(seen[j]);
  }
  return place;
}

}  // namespace odrpo::device
