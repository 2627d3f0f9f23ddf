// The definition of an advantage by level, and which settings have one.
#include "estimators/theory/setting.hpp"

#include <numeric>

#include "estimators/compat.hpp"
#include "estimators/definition.hpp"
#include "estimators/level_values.hpp"
#include "estimators/weights.hpp"

namespace odrpo {

std::vector<double> plain_values(int levels) {
  std::vector<double> values(static_cast<std::size_t>(levels));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

std::optional<std::string> theory_refusal(const TheorySetting& s) {
  const EstimatorConfig& c = s.estimator;
  if (c.posterior) return "posterior estimators need a model of the judge: they are no function of the group's scores alone";
  if (c.form == Form::odrpo && reads_median(c.weight) && c.median == MedianRule::running)
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
  EstimatorConfig config = s.estimator;
  config.values = s.values;
  if (const Basis basis = row_of(config.form).basis; basis == Basis::rank || basis == Basis::bit) config.values.clear();
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

}  // namespace odrpo
