// Reads the keys of [estimator.NAME] that commands have as flags.
#pragma once
#include "app/command.hpp"
#include "estimators/estimator.hpp"

namespace odrpo::app {

/// Sets the keys that the flags give. Failure usage for a key that the form does not read, or that its convention sets itself; for values that it cannot have; for a running
/// median, which is a state of the training; and for a convention that lacks the form.
void set_form_keys(const FormKeyFlags& flags, EstimatorConfig& config);

}  // namespace odrpo::app
