// Runs of the toy language model on a device: each trains in the training loop on a thread of its own, its transformer on the device, its
// world, judge and evaluations on the CPU.
#pragma once
#include <cstddef>
#include <string>

#include "train/batched/engine.hpp"

namespace odrpo {

struct RunSpec;
struct TransformerPlace;

/// Runs that train on a device at a time, at most: enough to fill it, as few as do not wait for each other on the host.
inline constexpr std::size_t toy_lm_at_once = 16;

/// What BatchEngine says of a run in this world.
std::string why_not_batched_toy_lm(const RunSpec& spec);
std::string toy_lm_shape(const RunSpec& spec);
double toy_lm_device_bytes(const RunSpec& spec);

/// BatchEngine::train for such runs: `shared.threads` of them at a time, at most toy_lm_at_once and as many as `memory_bytes` hold. Threads
/// begin with different worlds, whose supervised steps are the CPU's. When the place fails, runs that are not finished are stopped as by
/// `stop`; their checkpoints stay.
void train_toy_lm_runs(const TransformerPlace& place, double memory_bytes, const BatchEngine::Call& call);

}  // namespace odrpo
