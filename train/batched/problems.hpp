// What the runs of a batch are given: worlds and laws, made by as many threads as the suite may use.
#pragma once
#include "train/worlds/bandit.hpp"
#include "train/batched/engine.hpp"

namespace odrpo {

struct RunSpec;

/// The problems of the runs, in their order, less those of runs that cannot have one: these fail as on the CPU, and are handed over. When
/// `stop` is set meanwhile, some may be missing.
std::vector<BanditProblem> make_problems(const std::vector<const RunSpec*>& runs, RunCache& cache, const std::atomic<bool>& stop,
                                   const BatchEngine::Done& done);

}  // namespace odrpo
