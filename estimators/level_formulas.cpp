// Evaluates weights and norms of levels, states them as text, and finds levels where they have no finite value.
#include "estimators/level_formulas.hpp"

#include <limits>
#include <tuple>
#include <utility>

#include "estimators/compat.hpp"
#include "kernels/math.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {
namespace {

/// The formula, if the form reads it.
const Formula& read_by(const EstimatorConfig& c, const Formula& formula) {
  static const Formula none;
  return c.form == Form::odrpo ? formula : none;
}
const Formula& weight_of(const EstimatorConfig& c) { return read_by(c, c.weight_formula); }
const Formula& norm_of(const EstimatorConfig& c) { return read_by(c, c.norm_formula); }

bool is_gini(Weight weight) { return weight == Weight::gini || weight == Weight::gini_median; }

double value_of(const Formula& formula, const EstimatorConfig& c, double level, int count, int group, double median) {
  const double g = group;
  return formula.at({level, count / g, median, g, static_cast<double>(c.formula_levels)}, c.numbers);
}

double gini_weight(const EstimatorConfig& c, double level, double variance, double median) {
  const double below = c.weight == Weight::gini_median && median > level ? (level - median) / c.gini.decay : 0;
  return formula_power(level, c.gini.power) * (c.gini.floor + c.gini.factor * variance * math::exp(below));
}

std::string named_numbers_text(const EstimatorConfig& c, std::string_view between) {
  std::string text;
  for (const NamedNumber& n : c.numbers) text.append(between).append(n.name).append(" = ").append(shortest(n.value));
  return text;
}

bool finite(double x) { return math::abs(x) <= static_cast<double>(std::numeric_limits<float>::max()); }

/// Can a group have the median i / 2 when `count` members reach level k? Half levels need the median rule `mid`, real scores or a running
/// median, which has nothing to do with the group.
bool is_reachable(const EstimatorConfig& c, const LevelGroups& of, int k, int count, int i) {
  if (c.median == MedianRule::running) return true;
  if (of.real && i == 2 * k - 1) return true;  // the score at the median and the threshold lie in the same level
  if (i % 2 == 1 && !of.real && (c.median != MedianRule::mid || of.group % 2 == 1)) return false;
  const int lower = of.group - (of.group - 1) / 2, upper = of.group - of.group / 2;  // so many reach the lower and the upper median
  const bool above = count >= (c.median == MedianRule::upper ? upper : lower);
  if (c.median != MedianRule::mid) return above == (i >= 2 * k);
  if (above) return i >= 2 * k;
  if (count < upper) return i <= 2 * (k - 1);
  return i >= k + of.lowest && i <= of.levels + k - 1;  // one of the two middle scores reaches the level
}

}  // namespace

bool reads_median(const EstimatorConfig& c) {
  if (c.form != Form::odrpo) return false;
  const bool weight = weight_of(c).empty() ? reads_median(c.weight) : weight_of(c).reads(LevelVariable::median);
  return weight || norm_of(c).reads(LevelVariable::median);
}

bool by_formula(const EstimatorConfig& c) {
  if (c.form != Form::odrpo) return false;
  return !weight_of(c).empty() || !norm_of(c).empty() || (is_gini(c.weight) && !(c.gini == GiniNumbers{}));
}

double weight_of_level(const EstimatorConfig& c, double level, int count, int group, double median) {
  if (const Formula& own = weight_of(c); !own.empty()) return value_of(own, c, level, count, group, median);
  const Weight weight = level_weighting(c);
  const double variance = level_variance(count, group);
  if (is_gini(weight) && !(c.gini == GiniNumbers{})) return gini_weight(c, level, variance, median);
  return level_weight(weight, level, variance, reads_median(weight) ? median_decay(median, level) : 1.0);
}

LevelShares shares_of_level(const EstimatorConfig& c, const LevelRule& rule, double scale, double level, int count, int group, double median) {
  const Formula& norm = norm_of(c);
  if (count <= 0 || (count >= group && rule.single == 0)) return {0.0, 0.0};
  const double weight = scale * weight_of_level(c, level, count, group, median);
  if (norm.empty()) return level_shares(rule, weight, count, group);
  if (count >= group) return {0.0, 0.0};
  const double factor = weight / (value_of(norm, c, level, count, group, median) + rule.eps);
  return {factor * (group - count) / group, factor * -count / group};
}

std::string weight_formula_text(const EstimatorConfig& c) {
  if (const Formula& own = weight_of(c); !own.empty()) return "w_k = " + own.text();
  const GiniNumbers& g = c.gini;
  if (!is_gini(c.weight) || g == GiniNumbers{}) return std::string(help_of<Weight>(weight_words, c.weight));
  return "w_k = k^" + shortest(g.power) + " (" + shortest(g.floor) + " + " + shortest(g.factor) + " mu_k (1 - mu_k)" +
         (c.weight == Weight::gini_median ? " exp(-max(Med - k, 0) / " + shortest(g.decay) + "))" : ")");
}

std::string norm_formula_text(const EstimatorConfig& c) {
  return norm_of(c).empty() ? std::string(help_of<Norm>(norm_words, c.norm)) : "N_k = " + norm_of(c).text();
}

std::string formula_numbers_text(const EstimatorConfig& c) { return c.form == Form::odrpo ? named_numbers_text(c, ", ") : ""; }

std::string formula_settings(const EstimatorConfig& c) {
  if (!by_formula(c)) return "";
  std::string text;
  if (!weight_of(c).empty()) text += "; weight = " + weight_of(c).text();
  if (!norm_of(c).empty()) text += "; norm = " + norm_of(c).text();
  const GiniNumbers usual;
  for (const auto& [key, own, other] : {std::tuple("gini_floor", c.gini.floor, usual.floor), std::tuple("gini_factor", c.gini.factor, usual.factor),
                                        std::tuple("gini_power", c.gini.power, usual.power), std::tuple("gini_decay", c.gini.decay, usual.decay)})
    if (own != other) text += "; " + std::string(key) + " = " + shortest(own);
  return text + named_numbers_text(c, "; ");
}

std::optional<std::string> formula_refusal(const EstimatorConfig& c, int levels) {
  for (const auto& [key, formula] : {std::pair("weight", &weight_of(c)), std::pair("norm", &norm_of(c))}) {
    const std::size_t size = formula->list().size();
    if (size > 0 && levels > 0 && size != static_cast<std::size_t>(levels))
      return std::string(key) + " has " + std::to_string(size) + " numbers for " + std::to_string(levels) + " levels";
    if (levels == 0 && formula->reads(LevelVariable::levels)) return std::string(key) + " reads K, and the number of levels is not known";
  }
  return std::nullopt;
}

std::optional<std::string> not_finite(const EstimatorConfig& config, const LevelGroups& of, long& work) {
  EstimatorConfig c = config;
  c.formula_levels = of.levels;
  const LevelRule rule = level_rule(c);
  const bool median = reads_median(c);
  const int last = of.group == 1 ? 1 : of.group - 1;  // a group of one reaches the levels up to its score
  for (int k = of.lowest + 1; k <= of.levels; ++k)
    for (int count = 1; count <= last; ++count)
      for (int i = median ? 2 * of.lowest : 0; i <= (median ? 2 * of.levels : 0); ++i) {
        if (median && !is_reachable(c, of, k, count, i)) continue;
        if (--work < 0) return std::nullopt;
        const double med = median ? i / 2.0 : undefined;
        const LevelShares shares = shares_of_level(c, rule, 1, k, count, of.group, med);
        if (finite(shares.reached) && finite(shares.missed)) continue;
        const double weight = weight_of_level(c, k, count, of.group, med);
        const std::string what = finite(weight) ? "norm is " + shortest(value_of(norm_of(c), c, k, count, of.group, med)) : "weight is " + shortest(weight);
        return what + " at k = " + std::to_string(k) + ", mu = " + std::to_string(count) + "/" + std::to_string(of.group) + (median ? ", med = " + shortest(med) : "");
      }
  return std::nullopt;
}

}  // namespace odrpo
