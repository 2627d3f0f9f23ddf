// Computes fields and curls by sums of advantages over all histograms of the other members, and objectives by potentials of levels.
#include "estimators/theory/field.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "estimators/compat.hpp"
#include "estimators/definition.hpp"
#include "estimators/group/level_forms.hpp"
#include "estimators/theory/others.hpp"
#include "estimators/theory/setting.hpp"
#include "kernels/math.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo {
namespace {

/// Estimated steps of OthersMap::differences() for every histogram of M - 2 others. Throws Failure if they are too many.
double check_differences(const TheorySetting& s, const OthersMap& map) {
  return check_histogram_work(s.levels(), s.members - 2, 0.5 * s.levels() * s.levels() * map.difference_cost());
}

double mean_of_levels(std::span<const double> x) {
  double sum = 0;
  for (const double v : x) sum += v;
  return sum / static_cast<double>(x.size());
}

}  // namespace

double check_histogram_work(int levels, int members, double each) {
  const double histograms = histogram_count(levels, members), work = histograms * each;
  if (work <= most_theory_work) return work;
  const auto whole = [](double x) { return std::to_string(static_cast<long long>(std::min(x, 1e18))); };
  throw Failure(Exit::limits, std::to_string(members) + " scores on " + std::to_string(levels) + " levels have " + whole(histograms) +
                                  " histograms, too many for an exact sum of " + whole(each) + " steps each; the limit is " +
                                  whole(most_theory_work) + " steps");
}

std::vector<double> update_field(const TheorySetting& s, std::span<const double> p) {
  OthersMap map(s);
  check_histogram_work(s.levels(), s.members - 1, s.levels() * map.gain_cost());
  const Multinomial multinomial(p, s.members - 1);
  std::vector<double> field(p.size(), 0.0), gain(p.size());
  for_each_histogram(s.levels(), s.members - 1, [&](std::span<const int> others) {
    const double probability = multinomial(others);
    if (probability == 0) return;
    map.gains(others, gain);
    for (std::size_t k = 0; k < field.size(); ++k) field[k] += probability * gain[k];
  });
  return field;
}

double field_cosine(std::span<const double> field, std::span<const double> values) {
  const double field_mean = mean_of_levels(field), value_mean = mean_of_levels(values);
  double dot = 0, f2 = 0, v2 = 0;
  for (std::size_t k = 0; k < field.size(); ++k) {
    const double f = field[k] - field_mean, v = values[k] - value_mean;
    dot += f * v, f2 += f * f, v2 += v * v;
  }
  return f2 > 0 ? dot / (math::sqrt(f2) * math::sqrt(v2)) : std::numeric_limits<double>::quiet_NaN();
}

Circulation triangle_circulation(const TheorySetting& s, double corner) {
  constexpr std::size_t three = 3;
  if (s.values.size() != three) throw Failure(Exit::limits, "a triangle has three levels");
  Circulation sum;
  double along = 0;
  for (std::size_t from = 0; from < three; ++from) {
    const std::size_t to = (from + 1) % three;
    const double side = 1 - 3 * corner, step = side / loop_points;  // along the edge p[from] falls, p[to] grows
    for (int n = 0; n < loop_points; ++n) {
      std::vector<double> p(three, corner);
      p[to] += (n + 0.5) * step;
      p[from] += side - (n + 0.5) * step;
      const std::vector<double> field = update_field(s, p);
      const double mean = mean_of_levels(field);
      double squares = 0;
      for (const double f : field) squares += (f - mean) * (f - mean);
      along += (field[to] - field[from]) * step;
      sum.length += math::sqrt(2 * squares) * step;  // |dl| = sqrt(2) step
      sum.least_cosine = std::min(sum.least_cosine, field_cosine(field, s.values));
    }
  }
  sum.along = math::abs(along);
  return sum;
}

double curl_at(const TheorySetting& s, std::span<const int> others, int i, int j) {
  const auto f = [&](int of, int beside) {  // f_k(s + e_j), k = of, j = beside
    std::vector<int> group(others.begin(), others.end());
    ++group[static_cast<std::size_t>(of)];
    ++group[static_cast<std::size_t>(beside)];
    return group_advantages(s, group)[static_cast<std::size_t>(of)];
  };
  const int last = s.levels() - 1;
  return f(i, j) - f(i, last) + f(j, last) - f(j, i) + f(last, i) - f(last, j);
}

double mean_curl_work(const TheorySetting& s) { return check_differences(s, OthersMap(s)); }

MeanCurl mean_absolute_curl(const TheorySetting& s) {
  OthersMap map(s);
  const auto levels = static_cast<std::size_t>(s.levels());
  check_differences(s, map);
  std::vector<double> d(levels * levels, 0.0);
  const double* last = &d[(levels - 1) * levels];
  double sum = 0;
  MeanCurl mean;
  for_each_histogram(s.levels(), s.members - 2, [&](std::span<const int> others) {
    map.differences(others, d);
    double here = 0;
    for (std::size_t j = 1; j + 1 < levels; ++j)
      for (std::size_t i = 0; i < j; ++i) here += math::abs((last[i] - last[j]) - d[j * levels + i]);
    sum += here;
    mean.histograms += 1;
  });
  const double k = static_cast<double>(levels), pairs = 0.5 * (k - 1) * (k - 2);
  mean.all = 2 * sum / (k * k * mean.histograms);
  mean.pairs = pairs > 0 ? sum / (pairs * mean.histograms) : std::numeric_limits<double>::quiet_NaN();
  return mean;
}

std::vector<double> field_curl(const TheorySetting& s, std::span<const double> p) {
  OthersMap map(s);
  const auto levels = static_cast<std::size_t>(s.levels());
  check_differences(s, map);
  const Multinomial multinomial(p, s.members - 2);
  std::vector<double> d(levels * levels, 0.0), curl(levels * levels, 0.0);
  const double* last = &d[(levels - 1) * levels];
  for_each_histogram(s.levels(), s.members - 2, [&](std::span<const int> others) {
    const double probability = multinomial(others) * (s.members - 1);
    if (probability == 0) return;
    map.differences(others, d);
    for (std::size_t j = 1; j + 1 < levels; ++j)
      for (std::size_t i = 0; i < j; ++i) curl[i * levels + j] += probability * ((last[i] - last[j]) - d[j * levels + i]);
  });
  for (std::size_t j = 1; j < levels; ++j)
    for (std::size_t i = 0; i < j; ++i) curl[j * levels + i] = -curl[i * levels + j];
  return curl;
}

double relative_curl(const TheorySetting& s, std::span<const double> p) {
  OthersMap map(s);
  const std::size_t levels = p.size();
  check_histogram_work(s.levels(), s.members - 2, static_cast<double>(levels * levels) * map.gain_cost());
  const Multinomial multinomial(p, s.members - 2);
  std::vector<double> jacobian(levels * levels, 0.0), gain(levels);  // [j][i] dF_i / dp_j without the factor M - 1: E f_i(s + e_j)
  std::vector<int> beside(levels);
  for_each_histogram(s.levels(), s.members - 2, [&](std::span<const int> others) {
    const double probability = multinomial(others);
    if (probability == 0) return;
    std::copy(others.begin(), others.end(), beside.begin());
    for (std::size_t j = 0; j < levels; ++j) {
      ++beside[j];
      map.gains(beside, gain);
      --beside[j];
      for (std::size_t i = 0; i < levels; ++i) jacobian[j * levels + i] += probability * gain[i];
    }
  });
  // C J C with C = I - 11'/K: the Jacobian in the tangent space
  std::vector<double> row(levels, 0.0), column(levels, 0.0);
  double grand = 0;
  for (std::size_t j = 0; j < levels; ++j)
    for (std::size_t i = 0; i < levels; ++i) {
      const double share = jacobian[j * levels + i] / static_cast<double>(levels);
      row[j] += share, column[i] += share, grand += share / static_cast<double>(levels);
    }
  const auto at = [&](std::size_t i, std::size_t j) { return (jacobian[j * levels + i] - row[j]) - (column[i] - grand); };
  constexpr double rounding = 1e-24;  // a smaller share of the Jacobian's sum of squares is rounding
  double turning = 0, all = 0, whole = 0;
  for (std::size_t i = 0; i < levels; ++i)
    for (std::size_t j = 0; j < levels; ++j) {
      const double half = 0.5 * (at(i, j) - at(j, i)), entry = jacobian[j * levels + i];
      turning += half * half, all += at(i, j) * at(i, j), whole += entry * entry;
    }
  return all > rounding * whole ? math::sqrt(turning / all) : std::numeric_limits<double>::quiet_NaN();
}

// Potentials of levels: sums over binomial tails for finite groups, and closed forms in the limit of large groups.

namespace {

bool only_centres(const EstimatorConfig& c) {
  const Form form = followed_form(c);
  return form == Form::reinforce || form == Form::rloo;
}

bool by_group_median(const EstimatorConfig& c, double median) {
  return reads_median(c) && median != median;
}

/// Pr(Bin(members, p) > x) for x = 0..members-1. Probabilities follow from the mode by their ratios; the sum starts at the upper end.
std::vector<double> tails(int members, double p) {
  const auto size = static_cast<std::size_t>(members) + 1;
  std::vector<double> distribution(size, 0.0);
  const auto mode = static_cast<std::size_t>(std::min<double>(members, math::floor((members + 1) * p)));
  distribution[mode] = 1;
  for (std::size_t x = mode; x + 1 < size && p < 1; ++x)
    distribution[x + 1] = distribution[x] * static_cast<double>(size - 1 - x) / static_cast<double>(x + 1) * (p / (1 - p));
  for (std::size_t x = mode; x > 0 && p > 0; --x)
    distribution[x - 1] = distribution[x] * static_cast<double>(x) / static_cast<double>(size - x) * ((1 - p) / p);
  double total = 0;
  for (const double probability : distribution) total += probability;
  double above = 0;
  std::vector<double> tail(size - 1);
  for (std::size_t x = size - 1; x > 0; --x) tail[x - 1] = (above += distribution[x]) / total;
  return tail;
}

}  // namespace

std::optional<std::string> objective_refusal(const EstimatorConfig& c, int members, double median) {
  if (const auto why = theory_refusal({c, plain_values(2), members}); why && !(median == median && c.median == MedianRule::running))
    return why;
  if (only_centres(c)) return std::nullopt;
  if (convention_of(c).centre == Centre::floored)
    return "the scalar objective of " + estimator_word(c) + ", E[r] - E[max(mean of the group, r_min)], is no sum over levels";
  const Basis basis = row_of(c.form).basis;
  if (basis != Basis::level && basis != Basis::bit)
    return "there is no scalar objective for K > 2: " + estimator_word(c) +
           (convention_of(c).divisor == Divisor::quarter_range ? " ranks all levels at once, so its field has a curl"
                                                               : " divides by a statistic of all levels at once, so its field has a curl");
  // M = 2 is an exception: at every level that only one of the two reaches, their lower median is below the level
  if (by_group_median(c, median) && (members > 2 || c.median != MedianRule::lower || !reads_median(c.weight) || !c.norm_formula.empty()))
    return "there is no scalar objective for K > 2: the group's median couples the levels" + std::string(by_formula(c) ? "" : " of gini-median") + ", so its field has a curl";
  return std::nullopt;
}

double level_potential(const EstimatorConfig& c, int level, int members, double median, double reach) {
  if (const auto why = objective_refusal(c, members, median)) throw Failure(Exit::limits, *why);
  const double group = members;
  if (only_centres(c))  // F_k = R_k - E[r], times (M-1)/M if the mean includes the member itself
    return (convention_of(c).centre == Centre::others ? 1.0 : (group - 1) / group) * reach;
  std::vector<double> t(static_cast<std::size_t>(members)), u(t.size());
  leave_one_out(c, members, level, by_group_median(c, median) ? 0.0 : median, t, u);
  const std::vector<double> tail = tails(members, reach);
  double sum = 0;
  for (std::size_t x = 0; x < t.size(); ++x) sum += (t[x] - u[x]) * tail[x];
  if (!std::isfinite(sum)) throw Failure(Exit::limits, estimator_word(c) + " has no finite value at level " + std::to_string(level));
  return sum / group;
}

std::optional<std::string> limit_refusal(const EstimatorConfig& c, double median) {
  if (!has_norm(c.form) || c.compat != Compat::paper || c.eps != 0)
    return "the limit M -> infinity is known in closed form for odrpo under the convention paper without eps";
  if (by_formula(c)) return "the limit M -> infinity is known in closed form for the built-in weights and norms, not for formulas";
  if (by_group_median(c, median)) return "the group's median couples the levels of gini-median: there is no scalar objective";
  return std::nullopt;
}

double limit_potential(const EstimatorConfig& c, int level, double median, double reach) {
  if (const auto why = limit_refusal(c, median)) throw Failure(Exit::limits, *why);
  const bool grpo = c.norm == Norm::grpo;
  const double arc = grpo ? math::asin(math::sqrt(reach)) : 0, shape = level_shape(c.weight, level);
  if (c.weight == Weight::uniform || c.weight == Weight::linear) return shape * (grpo ? 2 * arc : math::log(reach));
  const double d = reads_median(c.weight) ? median_decay(median, level) : 1.0;
  if (grpo) return shape * ((0.2 + d) * arc - d * math::sqrt(reach * (1 - reach)) * (1 - 2 * reach));
  return shape * (0.1 * math::log(reach) + d * (4 * reach - 2 * reach * reach));
}

double objective(const EstimatorConfig& config, std::span<const double> values, int members, double median, std::span<const double> reach) {
  EstimatorConfig c = config;
  c.formula_levels = static_cast<int>(values.size());
  if (const auto why = formula_refusal(c, c.formula_levels)) throw Failure(Exit::limits, *why);
  const auto potential = [&](int level, double share) {
    return members == 0 ? limit_potential(c, level, median, share) : level_potential(c, level, members, median, share);
  };
  double sum = 0;
  if (row_of(c.form).basis == Basis::bit) {
    const int levels = static_cast<int>(values.size());
    for (int b = 0; b < bits_of(levels); ++b) {
      double share = 0;
      for (int m = 2; m <= levels; ++m)
        if (bit_of(m, b) != 0)
          share += reach[static_cast<std::size_t>(m - 2)] - (m < levels ? reach[static_cast<std::size_t>(m - 1)] : 0.0);
      sum += bit_weight(b) * potential(1, std::clamp(share, 0.0, 1.0));
    }
    return sum;
  }
  const std::vector<double> gaps = level_gaps(values);
  for (std::size_t m = 1; m < values.size(); ++m) sum += gaps[m] * potential(static_cast<int>(m) + 1, reach[m - 1]);
  return sum;
}

double paper_objective(std::span<const double> values, std::span<const double> reach) {
  return objective(*parse_estimator("odrpo(grpo)"), values, 0, no_median, reach) / math::pi;
}

std::vector<double> reach_of(std::span<const double> p) {
  std::vector<double> reach(p.size() - 1);
  double sum = 0;
  for (std::size_t k = p.size(); k-- > 1;) reach[k - 1] = std::min(1.0, sum += p[k]);
  return reach;
}

}  // namespace odrpo
