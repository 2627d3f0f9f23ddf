// Trains a run in its world. A table holds the functions of each world.
#include "train/train.hpp"

#include <type_traits>

#include "estimators/outside/library.hpp"
#include "kernels/isa.hpp"
#include "kernels/subnormals.hpp"
#include "train/apart.hpp"
#include "train/loop.hpp"
#include "train/worlds/bandit.hpp"
#include "train/worlds/toy_lm.hpp"

namespace odrpo {
namespace {

/// Trains a run whose world is made. One with a library of the user's trains in a process of its own, without checkpoints.
template <class W>
RunRecord train_problem(typename W::Problem& problem, const std::atomic<bool>& stop, const CheckpointStore& store, RunSteps* steps) {
  const EstimatorConfig& estimator = problem.spec->estimator;
  if (estimator.outside != Outside::library) return train_loop<W>(problem, stop, store, steps);
  return train_apart(*problem.spec, stop, estimator.deadline, steps, [&](RunSteps& counted) {
    problem.library = std::make_shared<OutsideLibrary>(estimator);
    if constexpr (std::is_same_v<W, ToyLmRun>) problem.place = on_cpu(problem.isa);  // the child has no other threads
    return train_loop<W>(problem, stop, {}, &counted);
  });
}

RunRecord train_bandit(const RunSpec& spec, RunCache& cache, const std::atomic<bool>& stop, const CheckpointStore& store, RunSteps* steps) {
  const FlushSubnormals flush;
  auto problem = make_bandit_problem(spec, cache, best_isa(), stop);
  return problem ? train_problem<BanditRun>(*problem, stop, store, steps) : failed_record(spec, "stopped");
}

RunRecord train_toy_lm_here(const RunSpec& spec, RunCache& cache, const std::atomic<bool>& stop, const CheckpointStore& store,
                            RunSteps* steps) {
  return train_toy_lm(spec, cache, stop, store, steps, on_cpu(best_isa(), cache.team()));
}

struct WorldRow {
  WorldKind kind;
  RunRecord (*train)(const RunSpec& spec, RunCache& cache, const std::atomic<bool>& stop, const CheckpointStore& store, RunSteps* steps);
  Cost (*cost)(const RunSpec& spec);
  double (*world_bytes)(const RunSpec& spec);
  double (*world_seconds)(const RunSpec& spec);
};
constexpr WorldRow worlds[] = {
    {WorldKind::bandit, train_bandit, bandit_cost, bandit_world_bytes, bandit_world_seconds},
    {WorldKind::toy_lm, train_toy_lm_here, toy_lm_cost, warm_start_bytes, warm_start_seconds},
};

const WorldRow& row_of(const RunSpec& spec) {
  const WorldRow* found = worlds;
  while (found->kind != spec.env.kind) ++found;
  return *found;
}

}  // namespace

RunRecord train_toy_lm(const RunSpec& spec, RunCache& cache, const std::atomic<bool>& stop, const CheckpointStore& store, RunSteps* steps,
                       const TransformerPlace& place) {
  const FlushSubnormals flush;
  std::optional<ToyLmProblem> problem = make_toy_lm_problem(spec, cache, best_isa(), stop, store, steps);
  if (!problem) return failed_record(spec, "stopped");
  problem->place = place;
  return train_problem<ToyLmRun>(*problem, stop, store, steps);
}

RunRecord train(const RunSpec& spec, RunCache& cache, const std::atomic<bool>& stop, const CheckpointStore& store, RunSteps* steps) {
  return row_of(spec).train(spec, cache, stop, store, steps);
}

Cost estimate_cost(const RunSpec& spec) { return row_of(spec).cost(spec); }

double world_bytes(const RunSpec& spec) { return row_of(spec).world_bytes(spec); }

double world_seconds(const RunSpec& spec) { return row_of(spec).world_seconds(spec); }

}  // namespace odrpo
