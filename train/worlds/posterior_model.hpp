// Declares the model of the judge that a run's posterior estimator uses, made from the run's spec.
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

/// What a run's posterior estimator believes: a judge, whose calls are made and aggregated as the run's are, and a world.
struct Belief {
  RaterConfig rater;
  BanditConfig world;
  PromptGrid grid;
  std::string key;         ///< equal for runs that share their model
  bool all_votes = false;  ///< the estimator reads all votes of a response, not their aggregate
};
/// Returns the belief of a run that has a posterior estimator.
Belief belief_of(const RunSpec& spec);

/// Returns the tables of the run's posterior estimator, shared by runs that need equal ones; empty for any other estimator. `estimator`:
/// the run's; its form makes advantages of posterior scores. `look_up` false: the run uses no table of advantages by histogram. Failures
/// are those of make_score_model() and make_call_model().
PosteriorTables posterior_tables(const RunSpec& spec, RunCache& cache, const BatchEstimator& estimator, Isa isa, bool look_up = true);

}  // namespace odrpo
