// Which runs can be batched, the layout of their memory, what they are given, and the record of one.
#pragma once
#include <functional>
#include <span>

#include "results/store/record.hpp"
#include "train/batched/block/run_block.hpp"
#include "train/batched/engine.hpp"
#include "train/worlds/bandit.hpp"

namespace odrpo {

struct RunSpec;

/// RunCache memory that a block can have on the devices there are code for (sm_90), and half of a processor's, so that two blocks fit.
inline constexpr std::size_t block_memory = 227 * 1024, half_processor = 113 * 1024;

/// Threads of a block at most: what lets two blocks share the registers of a processor. Where the parameters lie in the device's memory a
/// thread needs more of them, and more still for the general kind.
constexpr int most_threads(bool resident, bool general) { return general ? 256 : resident ? 512 : 384; }

/// The layout of a run that can be batched: the same for all runs of one batch_shape().
device::Layout make_layout(const RunSpec& spec);

/// Rewards that a run must hold for its running median: the window, or all there are; of kind ema a batch.
int median_ring(const RunSpec& spec);

/// The longest chunk of steps that runs train in one launch, whose tables have room: orders of `epochs` epochs for each seed, and so many
/// pending steps for each schedule.
struct Chunk {
  int steps = 1, epochs = 2;
  std::size_t pending = 0;
};
Chunk longest_chunk(const device::Layout& layout);

// What the runs of a batch are given, and their records from what their blocks wrote.

/// The problems of the runs, in their order, less those of runs that cannot have one: these fail as on the CPU, and are handed over. When
/// `stop` is set meanwhile, some may be missing.
std::vector<BanditProblem> make_problems(const std::vector<const RunSpec*>& runs, RunCache& cache, const std::atomic<bool>& stop,
                                   const BatchEngine::Done& done);

// The record of a run from what its block wrote.

struct BanditWorld;

/// seen(t): the rewards of step t's batch; ticks of the records take `seconds_per_tick`.
RunRecord batched_record(const RunSpec& spec, const BanditWorld& world, const device::Layout& layout,
                         std::span<const device::Record> records, const std::function<device::Seen(int t)>& seen, double seconds_per_tick);

}  // namespace odrpo
