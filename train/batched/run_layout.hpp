// Declares the memory layout of batched runs, the problems that they train on, and their records.
#pragma once
#include <functional>
#include <span>

#include "kernels/device/grid.hpp"
#include "results/store/record.hpp"
#include "train/batched/block/run_block.hpp"
#include "train/batched/engine.hpp"
#include "train/worlds/bandit.hpp"

namespace odrpo {

struct RunSpec;

/// block_memory: most bytes of shared memory of a block of threads on any device (compute capability 9.0; an A100 has 163 KiB, an L4, an A10
/// and GeForce RTX 99). half_processor: half the bytes of a multiprocessor of 9.0, so that two blocks fit.
inline constexpr std::size_t block_memory = 227 * 1024, half_processor = 113 * 1024;

/// Most threads of a block such that two blocks share the registers of a multiprocessor. A thread needs more registers where the parameters
/// lie in the device's memory (not resident), and more still for runs of the general kind (device::General).
constexpr int most_threads(bool resident, bool general) { return general ? 256 : resident ? 512 : 384; }

/// Returns the memory layout of a run that can be batched on a device whose blocks of threads have `block_bytes` of shared memory; equal for
/// all runs of one batch_shape(). A run's results do not depend on it.
device::Layout make_layout(const RunSpec& spec, std::size_t block_bytes = block_memory);

/// Returns why a run of the bandit does not fit into that memory of a device, whose name for people is `whose`; empty = it does.
std::string why_too_large(const RunSpec& spec, std::size_t block_bytes = block_memory, const std::string& whose = "the largest device");

/// The launch that trains `count` runs, each by a block of threads.
inline Grid train_grid(const device::Layout& layout, std::size_t count) {
  return {count, static_cast<unsigned>(layout.threads), layout.bytes, true};
}
/// The launch that shuffles the prompts of `epochs` epochs of `count` seeds, each by a thread.
inline constexpr unsigned shuffle_threads = 128;
inline Grid shuffle_grid(std::size_t count, int epochs) {
  return {blocks_for(count * static_cast<std::size_t>(epochs), shuffle_threads), shuffle_threads};
}

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
