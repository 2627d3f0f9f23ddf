// What posterior scores take: memory, time, and models that are too large.
#pragma once

namespace odrpo {

struct RunSpec;

/// Bytes of the run's model and of what is kept beside it; 0 of an estimator without one.
double posterior_bytes(const RunSpec& spec);
/// Rough seconds of the posterior scores of a run, once there is its model.
double posterior_seconds(const RunSpec& spec);
/// Rough seconds to make the run's model, which others may share (Belief::key).
double posterior_model_seconds(const RunSpec& spec);
/// Is the model of the run's judge larger than make_call_model() makes it?
bool posterior_too_large(const RunSpec& spec);

}  // namespace odrpo
