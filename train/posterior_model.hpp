// The model of the judge that a run's posterior estimator has, from the run's spec.
#pragma once
#include "kernels/isa.hpp"
#include "spec/spec.hpp"
#include "train/posterior_batch.hpp"
#include "train/run_cache.hpp"

namespace odrpo {

/// The tables of the run's estimator, shared by the runs that agree in them; empty ones when it is no posterior estimator. `estimator`: the
/// run's, for its form. `look_up` false: this run has no use for advantages by histogram. Failure as make_score_model().
PosteriorTables posterior_tables(const RunSpec& spec, RunCache& cache, const BatchEstimator& estimator, Isa isa, bool look_up = true);

/// Bytes that they take.
double posterior_bytes(const RunSpec& spec);
/// Rough seconds that its posterior scores take a run, tables apart.
double posterior_seconds(const RunSpec& spec);

}  // namespace odrpo
