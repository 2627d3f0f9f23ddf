// Formulas of estimators and of whitening as text, with the numbers of their convention: what tables and `list` print.
#pragma once
#include <string>

#include "estimators/compat.hpp"

namespace odrpo {

/// The formula and the conventions in one line, as tables print them under their numbers. Throws Failure for a config that
/// compat_refusal() refuses.
std::string estimator_formula(const EstimatorConfig& config);

/// What a group of one gets, for every form: "0", "r", "(sum of w_k over k <= r) / 1e-06". Throws as convention_of().
std::string single_text(const EstimatorConfig& config);

/// "nothing", or "(A - mean) / (std + 1e-04), ddof 1, over responses": as it stands behind an
/// estimator_formula().
std::string whitening_text(const Whitening& whitening);

}  // namespace odrpo
