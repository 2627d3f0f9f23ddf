// What the runs of a batch are given, and their records from what their blocks wrote.
#pragma once
#include <functional>
#include <span>

#include "results/store/record.hpp"
#include "train/batched/block/run_block.hpp"
#include "train/batched/engine.hpp"
#include "train/worlds/bandit.hpp"

namespace odrpo {

struct RunSpec;

/// The problems of the runs, in their order, less those of runs that cannot have one: these fail as on the CPU, and are handed over. When
/// `stop` is set meanwhile, some may be missing.
std::vector<BanditProblem> make_problems(const std::vector<const RunSpec*>& runs, RunCache& cache, const std::atomic<bool>& stop,
                                   const BatchEngine::Done& done);

// The record of a run from what its block wrote.

struct BanditWorld;
struct RunSpec;

/// seen(t): the rewards of step t's batch; ticks of the records take `seconds_per_tick`.
RunRecord batched_record(const RunSpec& spec, const BanditWorld& world, const device::Layout& layout,
                         std::span<const device::Record> records, const std::function<device::Seen(int t)>& seen, double seconds_per_tick);

}  // namespace odrpo
