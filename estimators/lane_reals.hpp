// A group of real rewards as a lane's threads estimate it together: each member finds its place, one thread sums, each member reads. Same
// bits as RealEstimator (real.hpp).
#pragma once
#include "estimators/group_range.hpp"
#include "estimators/real_group.hpp"

namespace odrpo::lane {

/// Numbers of one group, `stride` apart, as in group_pass::Column.
struct Cells {
  double* at;
  int stride;
  constexpr double& operator[](int i) const { return at[i * stride]; }
};

/// First, for each member i of the `count` rewards that are there: to its place among them sorted, or what its form takes it as.
ODRPO_HD void place_member(const RealView& e, Cells reward, Cells to, int count, int i) {
  const double own = reward[i];
  if (e.form != Form::odrpo && e.form != Form::rank_grpo) {
    to[i] = real_group::value_of(e, own);
    return;
  }
  int below = 0, equal = 0, before = 0;
  for (int j = 0; j < count; ++j) {
    below += reward[j] < own;
    equal += reward[j] == own;
    before += j < i && reward[j] == own;
  }
  if (e.form == Form::odrpo) to[below + before] = own;
  else to[i] = real_group::mean_rank(below, below + equal);
}

/// Then, once: what that left becomes advantages. Of groups that teach (real_group::teaches).
ODRPO_HD void estimate_group(const RealView& e, Cells reward, Cells to, int count) {
  if (e.form == Form::odrpo) real_group::ordinal(e, to, count);
  else if (count == 1) to[0] *= e.lone_factor;
  else real_group::cardinal(e, to, count, reward, to);
}

/// Then, for each response i that has a reward: where its advantage is.
template <class T>
ODRPO_HD int place_of(const RealView& e, const T* seen, int i, Cells reward, int count) {
  int place = 0;
  if (e.form == Form::odrpo) {  // equals have the same
    const double own = static_cast<double>(seen[i]);
    for (int j = 0; j < count; ++j) place += reward[j] < own;
  } else {
    for (int j = 0; j < i; ++j) place += present(seen[j]);
  }
  return place;
}

}  // namespace odrpo::lane
