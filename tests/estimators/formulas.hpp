// Configs of formulas, for the tests of this folder.
#pragma once
#include <string>
#include <variant>

#include "estimators/estimator.hpp"

namespace odrpo {

/// The estimator of a word with these formulas; an empty text is none.
inline EstimatorConfig with_formulas(const std::string& word, const std::string& weight, const std::string& norm = "") {
  EstimatorConfig c = *parse_estimator(word);
  if (!weight.empty()) c.weight_formula = std::get<Formula>(Formula::parse(weight, c.numbers));
  if (!norm.empty()) c.norm_formula = std::get<Formula>(Formula::parse(norm, c.numbers));
  return c;
}

}  // namespace odrpo
