// Declares the memory layout of batched runs, the problems that they train on, and their records.
#pragma once
#include <functional>
#include <span>

#include "results/store/record.hpp"
#include "train/batched/block/run_block.hpp"
#include "train/batched/engine.hpp"
#include "train/worlds/bandit.hpp"

namespace odrpo {

struct RunSpec;

/// block_memory: bytes of shared memory of a block of threads on the devices that the code is built for (sm_90). half_processor: half the
/// bytes of a multiprocessor, so that two blocks fit.
inline constexpr std::size_t block_memory = 227 * 1024, half_processor = 113 * 1024;

/// Most threads of a block such that two blocks share the registers of a multiprocessor. A thread needs more registers where the parameters
/// lie in the device's memory (not resident), and more still for runs of the general kind (device::General).
constexpr int most_threads(bool resident, bool general) { return general ? 256 : resident ? 512 : 384; }

/// Returns the memory layout of a run that can be batched; equal for all runs of one batch_shape().
device::Layout make_layout(const RunSpec& spec);

/// Returns how many rewards a run stores for its running median: the window, or all of its rewards if they are fewer; one batch for kind ema.
int median_ring(const RunSpec& spec);

/// The longest chunk of steps that runs can train in one launch, since the tables of a chunk have limited room. The tables hold the prompt
/// orders of `epochs` epochs for each seed, and `pending` pending Adam steps for each schedule.
struct Chunk {
  int steps = 1, epochs = 2;
  std::size_t pending = 0;
};
Chunk longest_chunk(const device::Layout& layout);

// Makes the problems that a batch's runs train on.

/// Returns the problems of the runs, in order. A run whose problem cannot be made fails as on the CPU; `done` gets its record. If `stop` is
/// set meanwhile, some problems may be missing.
std::vector<BanditProblem> make_problems(const std::vector<const RunSpec*>& runs, RunCache& cache, const std::atomic<bool>& stop,
                                   const BatchEngine::Done& done);

// Makes the record of a run from what its block of threads wrote.

struct BanditWorld;

/// Makes a run's record of `records`. seen(t): sum and number of rewards of step t's batch. `seconds_per_tick`: seconds of a clock tick.
RunRecord batched_record(const RunSpec& spec, const BanditWorld& world, const device::Layout& layout,
                         std::span<const device::Record> records, const std::function<device::Seen(int t)>& seen, double seconds_per_tick);

}  // namespace odrpo
