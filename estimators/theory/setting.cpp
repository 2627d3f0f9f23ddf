// Computes advantages by level from the definition, refuses settings outside the theory, and computes the effect of one corrupted score.
#include "estimators/theory/setting.hpp"

#include <limits>
#include <numeric>
#include <vector>

#include "estimators/compat.hpp"
#include "estimators/definition.hpp"
#include "estimators/level_formulas.hpp"
#include "estimators/level_values.hpp"
#include "estimators/weights.hpp"
#include "kernels/math.hpp"

namespace odrpo {

std::vector<double> plain_values(int levels) {
  std::vector<double> values(static_cast<std::size_t>(levels));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

std::optional<std::string> theory_refusal(const TheorySetting& s) {
  const EstimatorConfig& c = s.estimator;
  if (needs_judge(c)) return std::string(c.posterior ? "posterior" : "corrected") + " estimators need a model of the judge: they are no function of the group's scores alone";
  if (const std::string_view more = beside_group(c.form); !more.empty())
    return estimator_word(c) + " reads " + std::string(more) + ": it is no function of the group's scores";
  if (reads_median(c) && c.median == MedianRule::running)
    return "the running median comes from earlier batches: it is no function of the group";
  if (auto why = compat_refusal(c)) return why;
  if (s.levels() < 2 || s.levels() > most_theory_levels) return "2.." + std::to_string(most_theory_levels) + " levels are needed";
  if (s.members < 2 || s.members > most_theory_members)
    return "a group of 2.." + std::to_string(most_theory_members) + " members is needed";
  if (auto why = ascent_refusal(s.values)) return why;
  if (row_of(c.form).basis == Basis::bit && is_spaced(s.values)) return "odrpo-bitwise has no values: " + std::string(no_bit_values);
  return std::nullopt;
}

std::vector<double> level_gaps(std::span<const double> values) {
  std::vector<double> gaps(values.size(), 0.0);
  for (std::size_t k = 1; k < values.size(); ++k) gaps[k] = values[k] - values[k - 1];
  return gaps;
}

std::vector<double> group_advantages(const TheorySetting& s, std::span<const int> counts) {
  const EstimatorConfig config = with_values(s.estimator, s.values);
  std::vector<double> scores, advantage(counts.size(), 0.0);
  for (std::size_t k = 0; k < counts.size(); ++k)
    scores.insert(scores.end(), static_cast<std::size_t>(counts[k]), static_cast<double>(k + 1));
  std::vector<double> out(scores.size());
  advantages(config, s.levels(), scores, no_median, out);
  std::size_t member = 0;
  for (std::size_t k = 0; k < counts.size(); member += static_cast<std::size_t>(counts[k++]))
    if (counts[k] > 0) advantage[k] = out[member];
  return advantage;
}

// Advantages of a group with and without one corrupted score.

namespace {

std::vector<double> advantages_of(const TheorySetting& setting, std::span<const int> levels) {
  std::vector<int> counts(setting.values.size(), 0);
  for (const int level : levels) ++counts[static_cast<std::size_t>(level - 1)];
  const std::vector<double> by_level = group_advantages(setting, counts);
  std::vector<double> out;
  for (const int level : levels) out.push_back(by_level[static_cast<std::size_t>(level - 1)]);
  return out;
}

double sum_of_squares(std::span<const double> advantages) {
  double sum = 0;
  for (const double a : advantages) sum += a * a;
  return sum;
}

double spread_without(std::span<const double> advantages, std::size_t member) {
  const double others = static_cast<double>(advantages.size() - 1);
  double mean = 0, squares = 0;
  for (std::size_t i = 0; i < advantages.size(); ++i)
    if (i != member) mean += advantages[i] / others;
  for (std::size_t i = 0; i < advantages.size(); ++i)
    if (i != member) squares += (advantages[i] - mean) * (advantages[i] - mean);
  return math::sqrt(squares);
}

}  // namespace

Leverage leverage_of(const TheorySetting& setting, std::span<const int> levels, std::size_t member, int outlier) {
  std::vector<int> corrupted(levels.begin(), levels.end());
  corrupted[member] = outlier;
  const std::vector<double> before = advantages_of(setting, levels), after = advantages_of(setting, corrupted);
  const double size = static_cast<double>(levels.size()), squares = sum_of_squares(after);
  Leverage out;
  out.share = squares > 0 ? after[member] * after[member] / squares : std::numeric_limits<double>::quiet_NaN();
  out.rms_before = math::sqrt(sum_of_squares(before) / size);
  out.rms_after = math::sqrt(squares / size);
  out.spread_before = spread_without(before, member);
  out.spread_after = spread_without(after, member);
  return out;
}

}  // namespace odrpo
