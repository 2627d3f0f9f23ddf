// Which runs can be batched, and the layout of their memory.
#pragma once
#include <string>

#include "train/batched/block/run_block.hpp"

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

}  // namespace odrpo
