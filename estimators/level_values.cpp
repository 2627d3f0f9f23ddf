// Computes what levels are worth from the key `values`, and refuses configs that cannot have this key.
#include "estimators/level_values.hpp"

#include <limits>

#include "kernels/math.hpp"

namespace odrpo {
bool is_spaced(std::span<const double> values) {
  for (std::size_t k = 0; k < values.size(); ++k)
    if (values[k] != static_cast<double>(k + 1)) return true;
  return false;
}

double value_of_score(std::span<const double> values, double score) {
  if (!(score < static_cast<double>(values.size()))) return values.back();
  const double level = score > 0 ? math::floor(score) : 0.0;
  const std::size_t k = static_cast<std::size_t>(level);
  const double low = k == 0 ? 0.0 : values[k - 1];
  return low + (score - level) * (values[k] - low);
}

double score_of_value(std::span<const double> values, double value) {
  if (values.empty()) return value;
  double low = 0;
  for (std::size_t k = 0; k < values.size(); low = values[k++])
    if (values[k] >= value) return value <= low ? static_cast<double>(k) : static_cast<double>(k) + (value - low) / (values[k] - low);
  return std::numeric_limits<double>::infinity();
}

double level_gap(std::span<const double> values, int level) {
  if (values.empty()) return 1.0;
  const std::size_t k = static_cast<std::size_t>(level);
  if (k > values.size()) return 0.0;
  return k == 1 ? values[0] : values[k - 1] - values[k - 2];
}

std::optional<std::string> ascent_refusal(std::span<const double> values) {
  if (values.size() < 2) return "there are two levels at least, and each has its value";
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!(math::abs(values[k]) <= most_level_value)) return "the values of the levels must stay within -1e9..1e9";
    if (k > 0 && !(values[k] > values[k - 1]))
      return "the values of the levels must ascend, and " + shortest(values[k]) + " stands after " + shortest(values[k - 1]);
  }
  return std::nullopt;
}

EstimatorConfig with_values(EstimatorConfig config, std::span<const double> values) {
  const Basis basis = row_of(config.form).basis;
  config.values.clear();
  if (basis != Basis::rank && basis != Basis::bit) config.values.assign(values.begin(), values.end());
  return config;
}

std::optional<std::string> values_refusal(const EstimatorConfig& c) {
  if (c.values.empty()) return std::nullopt;
  if (c.posterior) return std::string(no_posterior_values);
  if (row_of(c.form).basis == Basis::rank) return std::string(no_rank_values);
  if (row_of(c.form).basis == Basis::bit) return std::string(no_bit_values);
  return ascent_refusal(c.values);
}

}  // namespace odrpo
