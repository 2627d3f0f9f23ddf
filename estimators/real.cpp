// One group of real rewards: integrals of weights by running sums along the levels, one exp per group.
#include "estimators/real.hpp"

#include <algorithm>

namespace odrpo {
namespace {

struct Placed {
  double value;
  int at;  // in the group
};

void sort_group(const double* reward, int n, Placed* sorted) {
  for (int i = 0; i < n; ++i) sorted[i] = {reward[i], i};
  std::sort(sorted, sorted + n, [](const Placed& a, const Placed& b) { return a.value < b.value; });
}

double median_of_sorted(const Placed* sorted, int n, MedianRule rule) {
  const double lower = sorted[(n - 1) / 2].value, upper = sorted[n / 2].value;
  if (rule == MedianRule::lower) return lower;
  if (rule == MedianRule::upper) return upper;
  return lower + (upper - lower) * 0.5;
}

/// d[i] = v[i] - mean, taken from the first one; returns the mean.
double deviations(const double* v, int n, double* d) {
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    d[i] = v[i] - v[0];
    sum += d[i];
  }
  const double offset = sum / n;
  for (int i = 0; i < n; ++i) d[i] -= offset;
  return v[0] + offset;
}

double sum_of_squares(const double* d, int n) {
  double squares = 0;
  for (int i = 0; i < n; ++i) squares += d[i] * d[i];
  return squares;
}

/// Variance of all but member `out`, by their own mean; exactly 0 when they are equal. Deviations d, two or more others.
double variance_without(const double* d, int n, int out, int ddof) {
  const int first = out == 0 ? 1 : 0;
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i)
    if (i != out) sum += d[i] - d[first];
  const double mean = sum / (n - 1);
  for (int i = 0; i < n; ++i)
    if (i != out) squares += ((d[i] - d[first]) - mean) * ((d[i] - d[first]) - mean);
  return squares / (n - 1 - ddof);
}

/// (v - mean of the others) / (sd of the others + eps) from deviations d, undivided where that sd is 0. The others of a member that is
/// alone at an end of the group may nearly be equal: theirs is taken afresh; anyone else's holds both ends, and a difference of sums does.
void against_others(const Convention& c, const double* d, int n, double* out) {
  const int others = n - 1;
  const auto [low, high] = std::minmax_element(d, d + n);
  const double squares = sum_of_squares(d, n);
  const bool low_alone = std::count(d, d + n, *low) == 1, high_alone = std::count(d, d + n, *high) == 1;
  for (int i = 0; i < n; ++i) {
    const double own = d[i] * n / others;
    double variance = 0;
    if (others > c.ddof) {
      const bool alone = (d[i] == *low && low_alone) || (d[i] == *high && high_alone);
      variance = alone ? variance_without(d, n, i, c.ddof) : (squares - d[i] * d[i] * n / others) / (others - c.ddof);
    }
    out[i] = variance > 0 ? own / (math::sqrt(variance) + c.eps) : own;
  }
}

}  // namespace

double LevelSums::between(double low, double high) const {
  const int top = static_cast<int>(step.size()) - 2;
  const int a = std::min(static_cast<int>(low), top), b = std::min(static_cast<int>(high), top);
  if (a == b) return step[a + 1] * (high - low);
  return step[a + 1] * (a + 1 - low) + (sum[b] - sum[a + 1]) + step[b + 1] * (high - b);
}

RealEstimator::RealEstimator(const EstimatorConfig& config, int levels, int rollouts)
    : config_(config), convention_(convention_of(config)), rollouts_(rollouts) {
  const bool ordinal = config.form == Form::odrpo;
  if (!ordinal && config.form != Form::convex_reinforce) return;
  const Weight weight = ordinal ? config.weight : Weight::gini;  // convex-reinforce: sqrt(k), the shape of gini
  for (LevelSums* sums : {&shape_, &grown_}) {
    sums->step.assign(levels + 2, 0.0);
    sums->sum.assign(levels + 2, 0.0);
  }
  for (int k = 1; k <= levels + 1; ++k) {
    shape_.step[k] = level_shape(weight, k);
    grown_.step[k] = shape_.step[k] / median_decay(k, 0);
    shape_.sum[k] = shape_.sum[k - 1] + shape_.step[k];
    grown_.sum[k] = grown_.sum[k - 1] + grown_.step[k];
  }
  if (!ordinal) return;
  rule_ = level_rule(config);
  for (int c = 0; c <= rollouts; ++c) counts_.push_back(count_of(c, rollouts));
}

RealEstimator::Count RealEstimator::count_of(int count, int group) const {
  const double variance = level_variance(count, group), fixed = level_mix(config_.weight, variance, 0);
  return {level_shares(rule_, 1.0, count, group), fixed, level_mix(config_.weight, variance, 1) - fixed};
}

RealEstimator::Damping RealEstimator::damping_of(double median) const {
  if (config_.weight != Weight::gini_median || !(median > 0)) return {0, 1};
  return {static_cast<double>(static_cast<int>(median)), median_decay(median, 0)};  // e^((k - Med) / 2) = e^(-Med / 2) e^(k / 2)
}

double RealEstimator::weight_of_gap(const Count& c, double low, double high, const Damping& damping) const {
  if (config_.weight == Weight::uniform) return high - low;
  low = low > 0 ? low : 0;
  if (!(high > low)) return 0;
  const double plain = c.fixed * shape_.between(low, high), below = damping.below;
  if (c.slope == 0) return plain;
  double damped = 0;
  if (low < below) damped += damping.factor * grown_.between(low, high < below ? high : below);
  if (high > below) damped += shape_.between(low > below ? low : below, high);
  return plain + c.slope * damped;
}

void RealEstimator::ordinal(const double* reward, int n, double* out) const {
  Placed sorted[most_rollouts];
  sort_group(reward, n, sorted);
  double median = running_;
  if (config_.weight == Weight::gini_median && config_.median != MedianRule::running) median = median_of_sorted(sorted, n, config_.median);
  const Damping damping = damping_of(median);
  // every gap gives those above it `reached` and those below it `missed`
  double base = 0, sum = 0;
  if (n == 1) sum = weight_of_gap(count_of(1, 1), 0, reward[0], damping) * rule_.single;
  out[sorted[0].at] = sum;
  for (int i = 1; i < n; ++i) {
    const double low = sorted[i - 1].value, high = sorted[i].value;
    if (high > low) {
      const Count c = n == rollouts_ ? counts_[n - i] : count_of(n - i, n);
      const double weight = weight_of_gap(c, low, high, damping);
      base += weight * c.shares.missed;
      sum += weight * (c.shares.reached - c.shares.missed);
    }
    out[sorted[i].at] = sum;
  }
  for (int i = 0; i < n; ++i) out[i] += base;
}

void RealEstimator::ranks(const double* reward, int n, double* out) const {
  Placed sorted[most_rollouts];
  sort_group(reward, n, sorted);
  for (int i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && sorted[end].value == sorted[i].value;) ++end;
    for (int j = i; j < end; ++j) out[sorted[j].at] = 0.5 * (i + end + 1);  // the mean of places i + 1 .. end
  }
}

void RealEstimator::cardinal(const double* value, int n, double* out) const {
  const Convention& c = convention_;
  double d[most_rollouts];
  const double mean = deviations(value, n, d);
  double divisor = 1;
  switch (c.divisor) {
    case Divisor::none: divisor = c.centre == Centre::others ? (n - 1.0) / n : 1.0; break;
    case Divisor::deviation: divisor = math::sqrt(sum_of_squares(d, n) / (n - c.ddof)) + c.eps; break;
    case Divisor::others_deviation: return against_others(c, d, n, out);
    case Divisor::mean: {
      double largest = 0;
      for (int i = 0; i < n; ++i) largest = std::max(largest, math::abs(value[i]));
      if (c.guard && !(mean > 1e-12 * largest)) return std::fill(out, out + n, 0.0);
      divisor = mean + c.eps;
    }
  }
  const double factor = 1 / divisor;
  for (int i = 0; i < n; ++i) out[i] = d[i] * factor;
}

void RealEstimator::operator()(const double* reward, int n, double* out) const {
  if (n == 0) return;
  const bool single = n == 1 && convention_.single != Single::zero;
  if (!single && std::all_of(reward, reward + n, [&](double r) { return r == reward[0]; })) return std::fill(out, out + n, 0.0);
  if (config_.form == Form::odrpo) return ordinal(reward, n, out);
  double value[most_rollouts];
  if (config_.form == Form::rank_grpo) ranks(reward, n, value);
  else
    for (int i = 0; i < n; ++i) value[i] = config_.origin == 0 ? reward[i] - 1 : reward[i];
  if (config_.form == Form::convex_reinforce)
    for (int i = 0; i < n; ++i) value[i] = value[i] > 0 ? shape_.between(0, value[i]) : 0.0;
  if (single) out[0] = value[0] * single_factor(convention_);
  else cardinal(value, n, out);
}

}  // namespace odrpo
