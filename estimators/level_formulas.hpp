// Computes what levels weigh and what they are divided by, for any config: built-in weights and norms, and formulas of a suite.
#pragma once
#include <optional>
#include <string>

#include "estimators/estimator.hpp"
#include "estimators/weights.hpp"

namespace odrpo {

/// True if the weights of levels, or what they are divided by, depend on the group's median: gini-median, and formulas with `med`.
bool reads_median(const EstimatorConfig& config);

/// True if levels have a formula of a suite, or numbers of gini weights that are not the default. Such a level costs an evaluation on the
/// host; estimators/group/level_forms.hpp has the others in closed form.
bool by_formula(const EstimatorConfig& config);

/// The weight w_k of a level k >= 1. `median`: weight_median() of definition.hpp. config.formula_levels is K for formulas.
double weight_of_level(const EstimatorConfig& config, double level, int count, int group, double median);

/// What a level that `count` of `group` members reach adds, `scale` times: level_shares() of weights.hpp, or the same with the formula
/// `norm` as divisor, plus eps. Not finite where a formula is not, or where it divides by 0; 0 for a level that all or none reach.
LevelShares shares_of_level(const EstimatorConfig& config, const LevelRule& rule, double scale, double level, int count, int group, double median);

/// Weight, norm, and the numbers that formulas read, as text: "w_k = k*a", "N_k = mu", ", a = 0.1".
std::string weight_formula_text(const EstimatorConfig& config);
std::string norm_formula_text(const EstimatorConfig& config);
std::string formula_numbers_text(const EstimatorConfig& config);
/// What follows an estimator's word where its formulas or numbers are not the word's own: "; weight = k*a; a = 0.1". Else empty.
std::string formula_settings(const EstimatorConfig& config);

/// The reason why a config's formulas do not serve K levels: a list has another length, or K is not known (0) and read.
std::optional<std::string> formula_refusal(const EstimatorConfig& config, int levels);

/// Groups whose levels are looked at: of `group` members with scores lowest..levels, whole or `real`.
struct LevelGroups {
  int levels, lowest, group;
  bool real = false;
};
/// Says at which (k, mu, med) of such groups a level that some but not all members reach adds no finite number: "weight is inf at k = 3,
/// mu = 0.5, med = 2"; nullopt if all are finite. Subtracts the number of levels that it looked at from `work`, and stops at 0. Of real
/// scores, and of a running median, it looks at medians on half levels.
std::optional<std::string> not_finite(const EstimatorConfig& config, const LevelGroups& of, long& work);

}  // namespace odrpo
