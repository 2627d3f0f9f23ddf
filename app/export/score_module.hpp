// Writes an estimator that needs the scores alone as a Python module for trainers.
#pragma once
#include <string>
#include <string_view>

#include "estimators/estimator.hpp"

namespace odrpo::app {

/// The beginning of the first line of these modules, after the comment sign.
inline constexpr std::string_view score_module_name = "odrpo-bench estimator";

/// The module: those parts of examples/trainers/score_estimator.py that the form and its convention need. Throws Failure with the text of
/// compat_refusal(). `word` names it: of corrected estimators, whose config is here that of the form with the judge's scores as values, the word that
/// was asked for. The config is neither posterior nor one of another program, and its median is no running one.
std::string score_module(const EstimatorConfig& config, std::string_view word);

}  // namespace odrpo::app
