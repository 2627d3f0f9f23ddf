// The model of the judge that a run's posterior estimator has, from the run's spec.
#pragma once
#include <string>

#include "envs/bandit/believed.hpp"
#include "envs/bandit/config.hpp"
#include "envs/rater/rater.hpp"
#include "kernels/isa.hpp"
#include "train/worlds/posterior_batch.hpp"

namespace odrpo {

class RunCache;
struct RunSpec;

/// What a run's posterior estimator believes in: a judge, asked and read as the run's is, and a world.
struct Belief {
  RaterConfig rater;
  BanditConfig world;
  PromptGrid grid;
  std::string key;         ///< equal for runs that share their model
  bool all_votes = false;  ///< it reads all votes of a response
};
/// Of a posterior estimator.
Belief belief_of(const RunSpec& spec);

/// The tables of the run's estimator, shared by the runs that agree in them; empty ones when it is no posterior estimator. `estimator`: the
/// run's, for its form. `look_up` false: this run has no use for advantages by histogram. Failure as make_score_model() and
/// make_call_model().
PosteriorTables posterior_tables(const RunSpec& spec, RunCache& cache, const BatchEstimator& estimator, Isa isa, bool look_up = true);

}  // namespace odrpo
