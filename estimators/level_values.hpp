// What the levels are worth: R_1 < .. < R_K (Paper, reward spacing Delta_k = R_k - R_(k-1)), and R between the levels.
#pragma once
#include <optional>
#include <span>
#include <string>

#include "estimators/estimator.hpp"

namespace odrpo {

/// Are the values others than 1..K? Empty ones are 1..K.
bool is_spaced(std::span<const double> values);

/// R of a score 0..K: linear between the levels, and from 0 at the score 0 to R_1 at the score 1. `values` are not empty.
double value_of_score(std::span<const double> values, double score);

/// Delta_k = R_k - R_(k-1) of a level k >= 1, with R_0 = 0; 1 where `values` are empty, 0 above the last level.
double level_gap(std::span<const double> values, int level);

/// Why these are no values of levels: two at least, ascending, within -most_level_value..most_level_value; nothing when they are.
std::optional<std::string> ascent_refusal(std::span<const double> values);

/// Why the config cannot have its values: ascent_refusal(), or its form reads none; nothing when it can or has none.
std::optional<std::string> values_refusal(const EstimatorConfig& config);

}  // namespace odrpo
