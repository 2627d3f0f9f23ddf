// Computes a batched run's advantages in its block of GPU threads, one thread per group of integer scores. So runs with any estimators
// share a launch. A tile of eight threads whitens. Each thread calls estimators/group/group.hpp, so the bits equal the host's.
#pragma once
#include <cstdint>

#include "estimators/batch.hpp"
#include "estimators/group/entries.hpp"
#include "estimators/group/group.hpp"
#include "kernels/float_math.hpp"

namespace odrpo::device {

/// The working memory of one group: numbers `stride` apart in shared memory, so that the threads of a warp have no bank conflicts.
struct ScoreColumn {
  std::uint32_t* at;
  int stride;
};
/// Stores the advantage of each score in a ScoreColumn.
struct InColumn {
  ScoreColumn column;
  constexpr void put(int v, float x) const { column.at[v * column.stride] = __builtin_bit_cast(std::uint32_t, x); }
  constexpr float get(int v) const { return __builtin_bit_cast(float, column.at[v * column.stride]); }
};
/// A group in the form of estimators/group/entries.hpp. Its ScoreColumn holds how many members reach each score 0..levels + 1.
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

/// How many numbers a ScoreColumn holds: one for each score 0..levels + 1.
ODRPO_HD int column_rows(int levels) { return levels + 2; }

/// Reads the scores of one group of two or more, and leaves the advantage of each possible score in `c`. `Numbers` = ChangingNumbers if
/// EstimatorView::term may change during the launch.
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
/// The advantage of a member with this score, after prepare().
ODRPO_HD float member(ScoreColumn c, int score) { return InColumn{c}.get(score); }

/// What whitening makes of each advantage A of a batch: A itself; 0; or (A - mean) times `inverse`, one over the divisor.
struct Whitened {
  bool on = false, equal = false;  ///< equal: all advantages that take part are equal, and become 0
  float mean = 0, inverse = 0;
};
template <class F>
ODRPO_HD F whitened(const Whitened& w, F advantage) {
  return !w.on ? advantage : w.equal ? F{} : (advantage - w.mean) * w.inverse;
}

/// Sum of f(x[i]) over the i < n whose mask is not 0 (null = all). The order is that of lane_sum() in batch_stage.cpp, and so are the bits.
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

/// Computes, by one tile, how n advantages are whitened, of which `count` take part. Same bits as whiten() of batch_stage.cpp.
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
  // an advantage that takes no part has the weight 0
  const auto sum = [&](auto f) { return lane_sum(o, x, mask, n, f); };
  to.mean = sum([](F a) { return a; }) * (1.0f / static_cast<float>(count));
  const float mean = to.mean;
  const float variance = sum([mean](F a) { return (a - mean) * (a - mean); }) * (1.0f / static_cast<float>(count - w.ddof));
  const float scale = whitening_scale(w, variance);
  to.inverse = scale > 0 ? 1.0f / scale : 0.0f;
  if (!w.centred) to.mean = 0;
  return to;
}

// A group of real rewards, estimated by the threads of a block together. A thread per member finds the member's index in sorted order. One
// thread calls estimators/group/group.hpp. A thread per member reads the member's advantage. Same bits as BatchEstimator::one.

/// The working memory of one group of real rewards: doubles `stride` apart, as in ScoreColumn.
struct Cells {
  double* at;
  int stride;
  constexpr double& operator[](int i) const { return at[i * stride]; }
  constexpr void put(int i, double x) const { at[i * stride] = x; }
  constexpr double get(int i) const { return at[i * stride]; }
};

/// Step 1, for each i of the `count` rewards that are not missing: copies reward i to its index in sorted order. If the form does not need
/// an order, the index stays i.
ODRPO_HD void place_member(const EstimatorView& e, Cells reward, Cells to, int count, int i) {
  if (!e.ordered) {
    to[i] = reward[i];
    return;
  }
  const double own = reward[i];
  int place = 0;
  for (int j = 0; j < count; ++j) place += reward[j] < own || (j < i && reward[j] == own);
  to[place] = own;
}

/// Step 2, by one thread: computes the advantages of the rewards in `placed`, at the same indices. Only for groups with group::teaches().
ODRPO_HD void estimate_group(const EstimatorView& e, Cells placed, Cells advantage, int count) {
  using namespace group;
  if (e.ordered) estimate<RealNumbers>(e, Sorted<Cells>{placed, count}, advantage);
  else estimate<RealNumbers>(e, Unsorted<Cells>{placed, count}, advantage);
}

/// Step 3, for each response i of `rollouts` that has a reward: the index of its advantage. Equal rewards share one, that of the first.
template <class T>
ODRPO_HD int place_of(const EstimatorView& e, const T* seen, int i, int rollouts) {
  int place = 0;
  if (e.ordered) {
    for (int j = 0; j < rollouts; ++j) place += present(seen[j]) && seen[j] < seen[i];
  } else {
    for (int j = 0; j < i; ++j) place += present(seen[j]);
  }
  return place;
}

}  // namespace odrpo::device
