// Reads an estimator from a flag: a word of the catalogue, and settings of its formulas after it.
#pragma once
#include <string>

#include "estimators/estimator.hpp"

namespace odrpo::app {

/// The estimator of a text such as "odrpo(grpo); weight = sqrt(k)*(a + mu); a = 0.1": a word of the catalogue, then the keys weight, norm,
/// gini_… and numbers of the formulas, as a suite has them. Failure `usage` for anything else, with the column of the text.
EstimatorConfig estimator_of_text(std::string_view flag, const std::string& text);

/// The text of a config: its word and the settings that differ from it.
std::string estimator_text(const EstimatorConfig& config);

}  // namespace odrpo::app
