// Defines what the levels are worth (key `values`): R_1 < .. < R_K (Paper, reward spacing Delta_k = R_k - R_(k-1)), and R between levels.
#pragma once
#include <optional>
#include <span>
#include <string>

#include "estimators/estimator.hpp"

namespace odrpo {

/// True if the values differ from 1..K. Empty `values` stand for 1..K.
bool is_spaced(std::span<const double> values);

/// The value R of a score in 0..K: linear between the levels, and from 0 at score 0 to R_1 at score 1. `values` must not be empty.
double value_of_score(std::span<const double> values, double score);

/// Delta_k = R_k - R_(k-1) of a level k >= 1, with R_0 = 0; 1 where `values` are empty, 0 above the last level.
/// The lowest score whose value is at least `value`; infinity if no score's is. Without values a score is its own value.
double score_of_value(std::span<const double> values, double value);

double level_gap(std::span<const double> values, int level);

/// The reason why numbers cannot be the values of levels: fewer than two, not ascending, or outside -most_level_value..most_level_value;
/// nullopt if they can.
std::optional<std::string> ascent_refusal(std::span<const double> values);

/// The estimator whose levels are worth the values. Forms of ranks and of bits do not read them, and get none.
EstimatorConfig with_values(EstimatorConfig config, std::span<const double> values);

/// The reason why a config cannot have its `values`: that of ascent_refusal(), or that its form does not use values; nullopt if it can.
std::optional<std::string> values_refusal(const EstimatorConfig& config);

}  // namespace odrpo
