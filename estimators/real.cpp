// Tables of an estimator of real rewards, and its groups one at a time.
#include "estimators/real.hpp"

#include <algorithm>

namespace odrpo {
namespace {

struct Placed {
  double value;
  int at;  // in the group
};
// The values of a sorted group.
struct Values {
  Placed* sorted;
  double& operator[](int i) const { return sorted[i].value; }
};

void sort_group(const double* reward, int n, Placed* sorted) {
  for (int i = 0; i < n; ++i) sorted[i] = {reward[i], i};
  std::sort(sorted, sorted + n, [](const Placed& a, const Placed& b) { return a.value < b.value; });
}

void ranks(const double* reward, int n, double* out) {
  Placed sorted[most_rollouts];
  sort_group(reward, n, sorted);
  for (int i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && sorted[end].value == sorted[i].value;) ++end;
    for (int j = i; j < end; ++j) out[sorted[j].at] = real_group::mean_rank(i, end);
  }
}

}  // namespace

RealEstimator::RealEstimator(const EstimatorConfig& config, int levels, int rollouts) {
  const Convention c = convention_of(config);
  const bool ordinal = config.form == Form::odrpo;
  auto tables = std::make_shared<Tables>();
  view_ = {.form = config.form,
           .weight = config.weight,
           .median = config.median,
           .origin = config.origin,
           .levels = levels,
           .rollouts = rollouts,
           .centre = c.centre,
           .divisor = c.divisor,
           .ddof = c.ddof,
           .eps = c.eps,
           .guard = c.guard,
           .lone = c.single != Single::zero,
           .lone_factor = single_factor(c),
           .rule = ordinal ? level_rule(config) : LevelRule{},
           .running = 0,
           .along = nullptr,
           .counts = nullptr};
  if (ordinal || config.form == Form::convex_reinforce) {
    const Weight weight = ordinal ? config.weight : Weight::gini;  // convex-reinforce: sqrt(k), the shape of gini
    const std::size_t row = static_cast<std::size_t>(levels) + 2;
    tables->along.assign(4 * row, 0.0);
    double *step = tables->along.data(), *sum = step + row, *grown = sum + row, *grown_sum = grown + row;
    for (int k = 1; k <= levels + 1; ++k) {
      step[k] = level_shape(weight, k);
      grown[k] = step[k] / median_decay(k, 0);
      sum[k] = sum[k - 1] + step[k];
      grown_sum[k] = grown_sum[k - 1] + grown[k];
    }
  }
  if (ordinal)
    for (int count = 0; count <= rollouts; ++count)
      tables->counts.push_back(real_group::count_of(config.weight, view_.rule, count, rollouts));
  view_.along = tables->along.data();
  view_.counts = tables->counts.data();
  tables_ = std::move(tables);
}

void RealEstimator::operator()(const double* reward, int n, double* out) const {
  const RealView& e = view_;
  if (n == 0) return;
  const bool all_equal = std::all_of(reward, reward + n, [&](double r) { return r == reward[0]; });
  if (!real_group::teaches(e, all_equal, n)) return std::fill(out, out + n, 0.0);
  if (e.form == Form::odrpo) {
    Placed sorted[most_rollouts];
    sort_group(reward, n, sorted);
    real_group::ordinal(e, Values{sorted}, n);
    for (int i = 0; i < n; ++i) out[sorted[i].at] = sorted[i].value;
    return;
  }
  double value[most_rollouts], room[most_rollouts];
  if (e.form == Form::rank_grpo) ranks(reward, n, value);
  else
    for (int i = 0; i < n; ++i) value[i] = real_group::value_of(e, reward[i]);
  if (n == 1) out[0] = value[0] * e.lone_factor;
  else real_group::cardinal(e, value, n, room, out);
}

}  // namespace odrpo
