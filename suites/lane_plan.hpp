// Which runs have a lane, and where a lane keeps what.
#pragma once
#include <string>

#include "suites/lane.hpp"
#include "suites/spec.hpp"

namespace odrpo {

/// Shared memory that a block can have on the devices there are code for (sm_90), and half of a processor's, so that two blocks fit.
inline constexpr std::size_t block_memory = 227 * 1024, half_processor = 113 * 1024;

/// Threads of a block at most: what lets two blocks share the registers of a processor. Where the parameters lie in the device's memory a
/// thread needs more of them, and more still for the general kind.
constexpr int most_threads(bool resident, bool general) { return general ? 256 : resident ? 512 : 384; }

/// The plan of a run that has a lane: the same for all runs of one lane_shape().
lane::Plan plan_lane(const RunSpec& spec);

/// Rewards that a run must hold for its running median: the window, or all there are; of kind ema a batch.
int lane_ring(const RunSpec& spec);

/// The longest stretch of steps that lanes go in one launch, whose tables have room: orders of `epochs` epochs for each seed, and so many
/// pending steps for each schedule.
struct Stretch {
  int steps = 1, epochs = 2;
  std::size_t pending = 0;
};
Stretch longest_stretch(const lane::Plan& plan);

}  // namespace odrpo
