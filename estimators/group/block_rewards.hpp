// A group of real rewards as a block's threads estimate it together: each member finds its place, one thread runs the function of
// estimators/group/group.hpp, each member reads. Same bits as BatchEstimator::one.
#pragma once
#include "estimators/group/group.hpp"
#include "estimators/group/range.hpp"

namespace odrpo::device {

/// Numbers of one group, `stride` apart, as in ScoreColumn of block_groups.hpp.
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
