// The conventions of an estimator in a request: eps, ddof, k, origin and compat.
#pragma once
#include "app/compute/arguments.hpp"
#include "estimators/estimator.hpp"

namespace odrpo::app {

/// Reads those of the conventions that were given into a config whose form is known. Beside a system, eps and ddof may be left out; refused
/// are those that the system has otherwise, where the form reads them, and conventions that the system or the form lacks.
void read_conventions(const Arguments& a, EstimatorConfig& config);

}  // namespace odrpo::app
