// What posterior scores take: memory, time, and models that are too large.
#pragma once

namespace odrpo {

struct RunSpec;

/// Bytes of the run's model, which others may share (Belief::key), and of what is kept beside it when it is asked about so many responses; 0 of
/// an estimator without one.
double posterior_bytes(const RunSpec& spec, double responses);
/// Rough seconds to make the run's model, and what the votes of so many responses ask of it.
double posterior_model_seconds(const RunSpec& spec, double responses);
/// Rough seconds of the posterior scores of a run, once there is its model.
double posterior_seconds(const RunSpec& spec);
/// Is the model of the run's judge larger than make_call_model() makes it?
bool posterior_too_large(const RunSpec& spec);

}  // namespace odrpo
