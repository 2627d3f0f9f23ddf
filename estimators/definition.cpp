// Implements the definition of every estimator, close to its formula on paper.
#include "estimators/definition.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <string>
#include <vector>

#include "estimators/group/level_forms.hpp"
#include "estimators/level_formulas.hpp"
#include "estimators/level_values.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo {
namespace {

bool all_equal(std::span<const double> values) {
  for (const double v : values)
    if (v != values[0]) return false;
  return true;
}

/// Returns the sum, with Neumaier's compensation of rounding errors, so that neither order nor cancellation costs digits.
double sum_of(std::span<const double> values) {
  double sum = 0, lost = 0;
  for (const double v : values) {
    const double next = sum + v;
    lost += math::abs(sum) >= math::abs(v) ? (sum - next) + v : (v - next) + sum;
    sum = next;
  }
  return sum + lost;
}

double mean_of(std::span<const double> values) { return sum_of(values) / static_cast<double>(values.size()); }

/// Holds values times the power of two that brings their largest magnitude into [1/2, 1). Then no sum or square leaves the range of
/// doubles, and no digit changes (frexp and ldexp are exact).
struct Scaled {
  std::vector<double> values;
  double largest = 0;  // largest magnitude of the scaled values
  int exponent = 0;    // value = scaled value * 2^exponent
};

Scaled scaled(std::span<const double> values) {
  Scaled s;
  for (const double v : values) s.largest = std::max(s.largest, math::abs(v));
  s.largest = std::frexp(s.largest, &s.exponent);
  for (const double v : values) s.values.push_back(std::ldexp(v, -s.exponent));
  return s;
}

/// v - mean for every value v. Subtracts the first value before averaging, so that a common offset costs no digits.
std::vector<double> deviations(std::span<const double> values) {
  std::vector<double> d;
  for (const double v : values) d.push_back(v - values[0]);
  const double mean = mean_of(d);
  for (double& x : d) x -= mean;
  return d;
}

/// Returns the variance: the sum of squared deviations over n - ddof.
double variance_of(std::span<const double> deviations, int ddof) {
  double squares = 0;
  for (const double x : deviations) squares += x * x;
  return squares / (static_cast<double>(deviations.size()) - ddof);
}

/// out = factor (v - mean) for every value v.
void centred(std::span<const double> values, double factor, std::span<double> out) {
  const Scaled s = scaled(values);
  const std::vector<double> d = deviations(s.values);
  for (std::size_t i = 0; i < d.size(); ++i) out[i] = std::ldexp(d[i] * factor, s.exponent);
}

/// The standard deviation of n values with this variance and ddof, raised by floor_squared(): sqrt(variance + floor n / (n - ddof)).
double raised(double variance, double floor, double n, int ddof) { return math::sqrt(variance + floor * n / (n - ddof)); }

/// out = (v - mean) / (sigma + eps) for every value v.
void z_scores(std::span<const double> values, int ddof, double eps, double floor, std::span<double> out) {
  const Scaled s = scaled(values);
  const std::vector<double> d = deviations(s.values);
  const double sigma = raised(variance_of(d, ddof), std::ldexp(floor, -2 * s.exponent), static_cast<double>(d.size()), ddof);
  for (std::size_t i = 0; i < d.size(); ++i) out[i] = d[i] / (sigma + std::ldexp(eps, -s.exponent));
}

/// out = (v - mu) / (mu + eps) for every value v; with the guard, zeros if the mean mu is negative or zero up to rounding.
void relative(std::span<const double> values, double eps, bool guard, std::span<double> out) {
  const Scaled s = scaled(values);
  const double mean = mean_of(s.values);
  const double factor = !guard || mean > 1e-12 * s.largest ? 1.0 / (mean + std::ldexp(eps, -s.exponent)) : 0.0;
  const std::vector<double> d = deviations(s.values);
  for (std::size_t i = 0; i < d.size(); ++i) out[i] = d[i] * factor;
}

/// out = (v - mean of the others) / (sd of the others + eps) for each of two or more values v. Does not divide where the sd is 0 or there
/// are at most ddof others.
void against_others(std::span<const double> values, int ddof, double eps, double floor, std::span<double> out) {
  const Scaled s = scaled(values);
  floor = std::ldexp(floor, -2 * s.exponent);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::vector<double> others = s.values;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    std::sort(others.begin(), others.end());  // so that equal rewards have equal others in equal order
    const double first = others[0];
    for (double& x : others) x -= first;
    const double mean = mean_of(others), own = (s.values[i] - first) - mean;
    const bool few = static_cast<int>(others.size()) <= ddof;
    if (few || (all_equal(others) && floor == 0)) {
      out[i] = std::ldexp(own, s.exponent);
      continue;
    }
    for (double& x : others) x -= mean;
    out[i] = own / (raised(variance_of(others, ddof), floor, static_cast<double>(others.size()), ddof) + std::ldexp(eps, -s.exponent));
  }
}

/// out = (v - median) / (MAD + 0.001) G / #(v != median), MAD = median |v - median|; both are lower medians. Values are not all equal.
void around_median(std::span<const double> values, double floor, std::span<double> out) {
  const double median = group_median(values, MedianRule::lower);
  std::vector<double> distance;
  for (const double v : values) distance.push_back(math::abs(v - median));
  const double apart = static_cast<double>(std::count_if(distance.begin(), distance.end(), [](double d) { return d > 0; }));
  const double mad = group_median(distance, MedianRule::lower), divisor = (floor > 0 ? math::sqrt(mad * mad + floor) : mad) + mad_eps;
  for (std::size_t i = 0; i < values.size(); ++i) out[i] = (values[i] - median) / divisor * (static_cast<double>(values.size()) / apart);
}

/// out = (v - Q) / (sigma + eps), Q = the smallest value such that at least the share kappa of the group has no more.
void around_quantile(std::span<const double> values, double kappa, int ddof, double eps, double floor, std::span<double> out) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double size = static_cast<double>(values.size());
  std::size_t at = 0;
  while (static_cast<double>(at + 1) / size < kappa) ++at;
  const double divisor = group_deviation(values, ddof, floor) + eps;
  for (std::size_t i = 0; i < values.size(); ++i) out[i] = (values[i] - sorted[at]) / divisor;
}

/// out = (largest - second largest) / (sigma + eps) for the largest value, else 0. If several are the largest, the second is equal to it.
void best_over_second(std::span<const double> values, int ddof, double eps, double floor, std::span<double> out) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double best = sorted.back(), second = sorted[sorted.size() - 2], divisor = group_deviation(values, ddof, floor) + eps;
  for (std::size_t i = 0; i < values.size(); ++i) out[i] = values[i] == best ? (best - second) / divisor : 0.0;
}

/// out = v - max(mean, least), for a group of any size.
void over_floor(std::span<const double> values, double least, std::span<double> out) {
  centred(values, 1, out);
  for (std::size_t i = 0; i < values.size(); ++i) out[i] = std::min(out[i], values[i] - least);
}

/// out = G (v - mean) / (sum of |v - mean| + eps).
void over_distances(std::span<const double> values, double eps, std::span<double> out) {
  const Scaled s = scaled(values);
  const std::vector<double> d = deviations(s.values);
  double sum = 0;
  for (const double x : d) sum += math::abs(x);
  for (std::size_t i = 0; i < d.size(); ++i) out[i] = static_cast<double>(d.size()) * d[i] / (sum + std::ldexp(eps, -s.exponent));
}

/// The ranks 1..G as 0 for the worst to 1 for the best: (G - place) / (G - 1), with place 1 = best.
std::vector<double> places_of(std::span<const double> ranks) {
  std::vector<double> places;
  for (const double rank : ranks) places.push_back((rank - 1) / (static_cast<double>(ranks.size()) - 1));
  return places;
}

/// Forms of rewards and of ranks: out = advantages of a group of two or more values that are not all equal; under Centre::floored of any group.
void cardinal(const EstimatorConfig& config, const Convention& c, std::span<const double> values, double floor, std::span<double> out) {
  const double group = static_cast<double>(values.size());
  if (c.centre == Centre::median) return around_median(values, floor, out);
  if (c.centre == Centre::floored) return over_floor(values, config.r_min, out);
  if (c.centre == Centre::quantile) return around_quantile(values, config.kappa, c.ddof, c.eps, floor, out);
  if (c.centre == Centre::second) return best_over_second(values, c.ddof, c.eps, floor, out);
  switch (c.divisor) {
    case Divisor::none: return centred(values, c.centre == Centre::others ? group / (group - 1.0) : 1.0, out);
    case Divisor::deviation: return z_scores(values, c.ddof, c.eps, floor, out);
    case Divisor::others_deviation: return against_others(values, c.ddof, c.eps, floor, out);
    case Divisor::mean: return relative(values, c.eps, c.guard, out);
    case Divisor::distances: return over_distances(values, c.eps, out);
    case Divisor::quarter_range: return centred(values, 4.0 / (group - 1.0), out);
    case Divisor::place_deviation: return z_scores(places_of(values), c.ddof, c.eps, floor, out);
    default: return;  // divisors that only forms of levels have
  }
}

/// Average ranks 1..G: equal values share the mean of their ranks.
std::vector<double> average_ranks(std::span<const double> values) {
  std::vector<double> ranks;
  for (const double v : values) {
    int below = 0, equal = 0;
    for (const double other : values) below += other < v, equal += other == v;
    ranks.push_back(below + 0.5 * (equal + 1));
  }
  return ranks;
}

/// The integral over (low, high] of a weight that is constant in each level (k - 1, k], and 0 below 0.
template <class WeightAt>
double integral(double low, double high, WeightAt weight_at) {
  double sum = 0;
  low = std::max(low, 0.0);
  for (double level = math::floor(low) + 1; low < high; level += 1) {
    const double end = std::min(level, high);
    sum += weight_at(level) * (end - low);
    low = end;
  }
  return sum;
}

const char* too_high(const EstimatorConfig& c) {
  return c.form == Form::odrpo ? "weighted odrpo of real rewards takes rewards up to 1e6" : "convex-reinforce takes rewards up to 1e6";
}

/// Adds to every member's advantage what a level or gap gives. Members with at least `threshold` reach it.
void add_level(const LevelShares& shares, double threshold, std::span<const double> rewards, std::span<double> out) {
  for (std::size_t i = 0; i < rewards.size(); ++i) out[i] += rewards[i] >= threshold ? shares.reached : shares.missed;
}

/// Refuses formulas without a finite value at a level or gap up to `high`, which `count` of `group` members reach.
const LevelShares& checked(const EstimatorConfig& config, const LevelShares& shares, double high, int count, int group) {
  if (by_formula(config) && !(math::abs(shares.reached) <= DBL_MAX && math::abs(shares.missed) <= DBL_MAX))
    throw Failure(Exit::limits, "the estimator's formulas give no finite number at k = " + shortest(high) + ", which " + std::to_string(count) + " of " +
                                    std::to_string(group) + " reach");
  return shares;
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

double weight_median(const EstimatorConfig& config, std::span<const double> rewards, double median) {
  if (!reads_median(config)) return no_median;
  return median == median ? median : group_median(rewards, config.median);
}

double weight_of_gap(const EstimatorConfig& config, double low, double high, int count, int group, double median) {
  if (level_weighting(config) == Weight::uniform && !by_formula(config) && config.values.empty()) return high - low;
  if (high > max_level) throw Failure(Exit::limits, too_high(config));
  return integral(low, high, [&](double level) {
    return level_gap(config.values, static_cast<int>(level)) * weight_of_level(config, level, count, group, median);
  });
}

LevelShares shares_of_gap(const EstimatorConfig& config, const LevelRule& rule, double low, double high, int count, int group, double median) {
  if (config.norm_formula.empty()) return level_shares(rule, weight_of_gap(config, low, high, count, group, median), count, group);
  if (high > max_level) throw Failure(Exit::limits, too_high(config));
  const auto shares = [&](double level) {
    return shares_of_level(config, rule, level_gap(config.values, static_cast<int>(level)), level, count, group, median);
  };
  return {integral(low, high, [&](double level) { return shares(level).reached; }),
          integral(low, high, [&](double level) { return shares(level).missed; })};
}

double group_mean(std::span<const double> values) {
  if (values.empty()) return no_median;
  const Scaled s = scaled(values);
  std::vector<double> d;
  for (const double v : s.values) d.push_back(v - s.values[0]);
  return std::ldexp(s.values[0] + mean_of(d), s.exponent);
}

double group_deviation(std::span<const double> values, int ddof, double floor) {
  if (std::ssize(values) <= ddof) return no_median;
  const Scaled s = scaled(values);
  const double variance = variance_of(deviations(s.values), ddof);
  return std::ldexp(raised(variance, std::ldexp(floor, -2 * s.exponent), static_cast<double>(values.size()), ddof), s.exponent);
}

int count_from(std::span<const double> rewards, double threshold) {
  return static_cast<int>(std::count_if(rewards.begin(), rewards.end(), [&](double r) { return r >= threshold; }));
}

std::vector<double> distinct_values(std::span<const double> rewards) {
  std::vector<double> values(rewards.begin(), rewards.end());
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (rewards.size() == 1 && values[0] > 0) values.insert(values.begin(), 0.0);
  return values;
}

bool are_levels(std::span<const double> rewards, int levels) {
  return std::all_of(rewards.begin(), rewards.end(), [&](double r) { return r >= 0 && r <= levels && r == math::floor(r); });
}

void odrpo_discrete(const EstimatorConfig& config, int levels, std::span<const double> rewards, double median, std::span<double> out) {
  const LevelRule rule = level_rule(config);
  const int group = static_cast<int>(rewards.size());
  const double med = weight_median(config, rewards, median);
  std::fill(out.begin(), out.end(), 0.0);
  for (int k = 1; k <= levels; ++k) {
    const int count = count_from(rewards, k);
    add_level(checked(config, shares_of_level(config, rule, level_gap(config.values, k), k, count, group, med), k, count, group), k, rewards, out);
  }
}

void odrpo_continuous(const EstimatorConfig& config, std::span<const double> rewards, double median, std::span<double> out) {
  const LevelRule rule = level_rule(config);
  const int group = static_cast<int>(rewards.size());
  const double med = weight_median(config, rewards, median);
  const std::vector<double> values = distinct_values(rewards);
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t gap = 1; gap < values.size(); ++gap) {
    const int count = count_from(rewards, values[gap]);
    add_level(checked(config, shares_of_gap(config, rule, values[gap - 1], values[gap], count, group, med), values[gap], count, group), values[gap], rewards, out);
  }
}

void odrpo_bitwise(const EstimatorConfig& config, std::span<const double> rewards, std::span<double> out) {
  if (!are_levels(rewards, static_cast<int>(max_level)))
    throw Failure(Exit::limits, estimator_word(config) + " takes whole scores, 0..1e6: other numbers have no bits");
  const LevelRule rule = level_rule(config);
  const int group = static_cast<int>(rewards.size());
  std::fill(out.begin(), out.end(), 0.0);
  const int bits = bits_of(static_cast<int>(*std::max_element(rewards.begin(), rewards.end())));  // no member has a higher bit
  for (int b = 0; b < bits; ++b) {
    const auto has = [b](double r) { return bit_of(static_cast<int>(r), b) != 0; };
    const int count = static_cast<int>(std::count_if(rewards.begin(), rewards.end(), has));
    const LevelShares shares = level_shares(rule, bit_weight(b), count, group);
    for (std::size_t i = 0; i < rewards.size(); ++i) out[i] += has(rewards[i]) ? shares.reached : shares.missed;
  }
}

void advantages(const EstimatorConfig& config, int levels, std::span<const double> rewards, double median, std::span<double> out, double floor) {
  refuse_judged(config);
  if (const std::string_view more = beside_group(config.form); !more.empty())
    throw Failure(Exit::limits, estimator_word(config) + " reads " + std::string(more) + ", and there is one group of scores alone");
  if (levels < 1) throw Failure(Exit::limits, "levels = " + std::to_string(levels) + ": there is at least one level");
  if (out.size() != rewards.size())
    throw Failure(Exit::limits,
                  "a group of " + std::to_string(rewards.size()) + " rewards has as many advantages, not " + std::to_string(out.size()));
  for (const double r : rewards)
    if (!std::isfinite(r)) throw Failure(Exit::limits, "a reward is not a finite number");
  if (const auto why = values_refusal(config)) throw Failure(Exit::limits, *why);
  if (!config.values.empty()) levels = static_cast<int>(config.values.size());
  for (const double r : rewards)
    if (!config.values.empty() && !(r >= 0 && r <= levels))
      throw Failure(Exit::limits, "beside values a reward is a score from 0 to " + std::to_string(levels) + ", the number of values");
  if (by_formula(config) && config.formula_levels != levels) {
    EstimatorConfig known = config;
    known.formula_levels = levels;
    if (const auto why = formula_refusal(known, levels)) throw Failure(Exit::limits, *why);
    return advantages(known, levels, rewards, median, out, floor);
  }
  const Convention convention = convention_of(config);
  const bool single = rewards.size() == 1 && convention.single != Single::zero;
  const bool taught = convention.centre == Centre::floored && !rewards.empty();  // equal rewards too
  if (!single && !taught && all_equal(rewards)) {
    std::fill(out.begin(), out.end(), 0.0);
    return;
  }
  if (row_of(config.form).basis == Basis::bit) return odrpo_bitwise(config, rewards, out);
  if (row_of(config.form).basis == Basis::level && config.form != Form::convex_reinforce) {
    if (are_levels(rewards, levels)) odrpo_discrete(config, levels, rewards, median, out);
    else odrpo_continuous(config, rewards, median, out);
    return;
  }
  std::vector<double> values(rewards.begin(), rewards.end());
  if (!config.values.empty() && config.form != Form::convex_reinforce)
    for (double& r : values) r = value_of_score(config.values, r);
  if (config.origin == 0)
    for (double& r : values) r -= 1;
  if (row_of(config.form).basis == Basis::rank) values = average_ranks(rewards);
  if (config.form == Form::convex_reinforce)
    for (double& r : values) r = weight_of_gap(config, 0, r, 0, 1, no_median);
  if (single) out[0] = values[0] * single_factor(convention);
  else cardinal(config, convention, values, floor, out);
}

void leave_one_out(const EstimatorConfig& config, int members, int level, double median, std::span<double> t, std::span<double> u) {
  const LevelRule rule = level_rule(config);
  for (int s = 0; s < members; ++s) {
    t[s] = shares_of_level(config, rule, 1, level, s + 1, members, median).reached;
    u[s] = shares_of_level(config, rule, 1, level, s, members, median).missed;
  }
}

void batch_normalize(std::span<double> advantages, int ddof, double eps) {
  whiten_definition({true, WhitenScale::added, ddof, eps}, advantages);
}

void whiten_definition(const Whitening& w, std::span<double> advantages, std::span<const std::uint8_t> mask, std::span<const int> tokens) {
  if (w.unit == WhitenUnit::response) tokens = {};
  if (!mask.empty() || !tokens.empty()) {
    const auto times = [&](std::size_t i) { return !mask.empty() && mask[i] == 0 ? 0 : tokens.empty() ? 1 : tokens[i]; };
    std::vector<double> part;
    for (std::size_t i = 0; i < advantages.size(); ++i) part.insert(part.end(), static_cast<std::size_t>(times(i)), advantages[i]);
    whiten_definition(w, part);
    std::size_t next = 0;
    for (std::size_t i = 0; i < advantages.size(); next += static_cast<std::size_t>(times(i++)))
      advantages[i] = times(i) > 0 ? part[next] : 0.0;
    return;
  }
  if (!w.on || advantages.empty()) return;
  if (all_equal(advantages)) return std::fill(advantages.begin(), advantages.end(), 0.0);
  const Scaled s = scaled(advantages);
  const std::vector<double> d = deviations(s.values);
  const double variance = variance_of(d, w.ddof);
  double scale = math::sqrt(variance) + std::ldexp(w.eps, -s.exponent);
  if (w.scale == WhitenScale::inside) scale = math::sqrt(variance + std::ldexp(w.eps, -2 * s.exponent));
  if (w.scale == WhitenScale::floor) scale = math::sqrt(std::max(variance, std::ldexp(w.eps, -2 * s.exponent)));
  for (std::size_t i = 0; i < d.size(); ++i) advantages[i] = (w.centred ? d[i] : s.values[i]) / scale;
}

}  // namespace odrpo
