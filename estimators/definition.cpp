// The definition of every estimator, as one would write it on paper.
#include "estimators/definition.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "estimators/weights.hpp"
#include "kernels/failure.hpp"

namespace odrpo {
namespace {

bool all_equal(std::span<const double> values) {
  for (const double v : values)
    if (v != values[0]) return false;
  return true;
}

/// Sum with its rounding errors carried along (Neumaier), so that neither order nor cancellation costs digits.
double sum_of(std::span<const double> values) {
  double sum = 0, lost = 0;
  for (const double v : values) {
    const double next = sum + v;
    lost += math::abs(sum) >= math::abs(v) ? (sum - next) + v : (v - next) + sum;
    sum = next;
  }
  return sum + lost;
}

/// Values times the power of two that brings their largest magnitude into [1/2, 1): no sum or square leaves the range of doubles, and no
/// digit changes (frexp and ldexp are exact).
struct Scaled {
  std::vector<double> values;
  double largest = 0;  // magnitude, scaled
  int exponent = 0;    // value = scaled value * 2^exponent
};

Scaled scaled(std::span<const double> values) {
  Scaled s;
  for (const double v : values) s.largest = std::max(s.largest, math::abs(v));
  s.largest = std::frexp(s.largest, &s.exponent);
  for (const double v : values) s.values.push_back(std::ldexp(v, -s.exponent));
  return s;
}

/// v - mean of every value, taken from the first one, so that a common offset costs no digits.
std::vector<double> deviations(std::span<const double> values) {
  std::vector<double> d;
  for (const double v : values) d.push_back(v - values[0]);
  const double mean = sum_of(d) / static_cast<double>(d.size());
  for (double& x : d) x -= mean;
  return d;
}

/// factor (v - mean)
void centred(std::span<const double> values, double factor, std::span<double> out) {
  const Scaled s = scaled(values);
  const std::vector<double> d = deviations(s.values);
  for (std::size_t i = 0; i < d.size(); ++i) out[i] = std::ldexp(d[i] * factor, s.exponent);
}

/// (v - mean) / (sigma + eps), sigma^2 = sum of squared deviations over n - ddof
void z_scores(std::span<const double> values, int ddof, double eps, std::span<double> out) {
  const Scaled s = scaled(values);
  const std::vector<double> d = deviations(s.values);
  double squares = 0;
  for (const double x : d) squares += x * x;
  const double sigma = math::sqrt(squares / (static_cast<double>(d.size()) - ddof));
  for (std::size_t i = 0; i < d.size(); ++i) out[i] = d[i] / (sigma + std::ldexp(eps, -s.exponent));
}

/// (v - mu) / (mu + eps); a mean that is negative, or zero but for rounding, has no relative deviation.
void relative(std::span<const double> values, double eps, std::span<double> out) {
  const Scaled s = scaled(values);
  const double mean = sum_of(s.values) / static_cast<double>(s.values.size());
  const double factor = mean > 1e-12 * s.largest ? 1.0 / (mean + std::ldexp(eps, -s.exponent)) : 0.0;
  const std::vector<double> d = deviations(s.values);
  for (std::size_t i = 0; i < d.size(); ++i) out[i] = d[i] * factor;
}

/// Average ranks 1..G, ties share the mean of their places.
std::vector<double> average_ranks(std::span<const double> values) {
  std::vector<double> ranks;
  for (const double v : values) {
    int below = 0, equal = 0;
    for (const double other : values) below += other < v, equal += other == v;
    ranks.push_back(below + 0.5 * (equal + 1));
  }
  return ranks;
}

/// U(r) = integral from 0 to r of sqrt(ceil(x)) dx, which is the sum of sqrt(k) over k <= r for integers; 0 for r <= 0.
double convex_utility(double r) {
  if (r > max_level) throw Failure(Exit::limits, "convex-reinforce takes rewards up to 1e6");
  double sum = 0;
  for (int k = 1; k - 1 < r; ++k) sum += math::sqrt(static_cast<double>(k)) * std::min(1.0, r - (k - 1));
  return sum;
}

/// The median that the weight reads; NaN for the weights that read none.
double weight_median(const EstimatorConfig& config, std::span<const double> rewards, double median) {
  if (config.weight != Weight::gini_median || median == median) return median;
  return group_median(rewards, config.median);
}

/// w_k / (N_k + eps) of a level that `count` of `group` members reach; 0 when it is dead.
double level_factor(const EstimatorConfig& config, double level, int count, int group, double median) {
  if (count <= 0 || count >= group) return 0.0;
  const double decay = config.weight == Weight::gini_median ? median_decay(median, level) : 1.0;
  return level_weight(config.weight, level, level_variance(count, group), decay) / (level_norm(config.norm, count, group) + config.eps);
}

/// Integral over (low, high] of w(ceil(x)) / (N + eps) dx, where the same `count` of `group` members reach every x.
double gap_factor(const EstimatorConfig& config, double low, double high, int count, int group, double median) {
  if (config.weight == Weight::uniform) return level_factor(config, 1, count, group, median) * (high - low);
  if (high > max_level) throw Failure(Exit::limits, "weighted odrpo of real rewards takes rewards up to 1e6");
  double sum = 0;
  low = std::max(low, 0.0);  // levels 0 and below weigh nothing
  for (double level = math::floor(low) + 1; low < high; level += 1) {
    const double end = std::min(level, high);
    sum += level_factor(config, level, count, group, median) * (end - low);
    low = end;
  }
  return sum;
}

}  // namespace

double group_median(std::span<const double> values, MedianRule rule) {
  if (rule == MedianRule::running) throw Failure(Exit::limits, "the running median comes from earlier batches, not from the group");
  if (values.empty()) return no_median;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double lower = sorted[(sorted.size() - 1) / 2], upper = sorted[sorted.size() / 2];
  if (rule == MedianRule::lower) return lower;
  if (rule == MedianRule::upper) return upper;
  return lower + (upper - lower) * 0.5;
}

void odrpo_discrete(const EstimatorConfig& config, int levels, std::span<const double> rewards, double median, std::span<double> out) {
  const int group = static_cast<int>(rewards.size());
  const double med = weight_median(config, rewards, median);
  std::fill(out.begin(), out.end(), 0.0);
  for (int k = 1; k <= levels; ++k) {
    int count = 0;
    for (const double r : rewards) count += r >= k;
    const double factor = level_factor(config, k, count, group, med);
    // 1[r >= k] - mu_k from integers: (G - c) / G or -c / G
    for (std::size_t i = 0; i < rewards.size(); ++i) out[i] += factor * ((rewards[i] >= k ? group : 0) - count) / group;
  }
}

void odrpo_continuous(const EstimatorConfig& config, std::span<const double> rewards, double median, std::span<double> out) {
  const int group = static_cast<int>(rewards.size());
  const double med = weight_median(config, rewards, median);
  std::vector<double> values(rewards.begin(), rewards.end());
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t gap = 1; gap < values.size(); ++gap) {
    int count = 0;
    for (const double r : rewards) count += r >= values[gap];
    const double factor = gap_factor(config, values[gap - 1], values[gap], count, group, med);
    for (std::size_t i = 0; i < rewards.size(); ++i) out[i] += factor * ((rewards[i] >= values[gap] ? group : 0) - count) / group;
  }
}

void advantages(const EstimatorConfig& config, int levels, std::span<const double> rewards, double median, std::span<double> out) {
  if (rewards.empty() || all_equal(rewards)) {
    std::fill(out.begin(), out.end(), 0.0);
    return;
  }
  const double group = static_cast<double>(rewards.size());
  switch (config.form) {
    case Form::reinforce: return centred(rewards, 1.0, out);
    case Form::rloo: return centred(rewards, group / (group - 1.0), out);
    case Form::grpo: return z_scores(rewards, config.ddof, config.eps, out);
    case Form::rank_grpo: return z_scores(average_ranks(rewards), 0, config.eps, out);
    case Form::maxrl: return relative(rewards, config.eps, out);
    case Form::convex_reinforce: {
      std::vector<double> utility;
      for (const double r : rewards) utility.push_back(convex_utility(r));
      return centred(utility, 1.0, out);
    }
    case Form::odrpo: break;
  }
  const bool integers = std::all_of(rewards.begin(), rewards.end(), [&](double r) { return r >= 0 && r <= levels && r == math::floor(r); });
  if (integers) odrpo_discrete(config, levels, rewards, median, out);
  else odrpo_continuous(config, rewards, median, out);
}

void leave_one_out(const EstimatorConfig& config, int members, int level, double median, std::span<double> t, std::span<double> u) {
  for (int s = 0; s < members; ++s) {
    t[s] = level_factor(config, level, s + 1, members, median) * (members - s - 1) / members;
    u[s] = level_factor(config, level, s, members, median) * -s / members;
  }
}

void batch_normalize(std::span<double> advantages, int ddof, double eps) {
  if (advantages.empty()) return;
  if (all_equal(advantages)) std::fill(advantages.begin(), advantages.end(), 0.0);
  else z_scores(advantages, ddof, eps, advantages);
}

}  // namespace odrpo
