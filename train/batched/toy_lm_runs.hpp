// Declares the training of toy language model runs on a device. Each run has the training loop on a thread of its own. The transformer is
// on the device; world, judge and evaluations are on the CPU.
#pragma once
#include <cstddef>
#include <string>

#include "train/batched/engine.hpp"

namespace odrpo {

struct RunSpec;
struct TransformerPlace;

/// Most runs that train on a device at a time. They are enough to keep it busy, but few enough not to wait for each other on the host.
inline constexpr std::size_t toy_lm_at_once = 16;

/// why_not_batched(), batch_shape() and batched_bytes() for a run of the toy language model.
std::string why_not_batched_toy_lm(const RunSpec& spec);
std::string toy_lm_shape(const RunSpec& spec);
double toy_lm_device_bytes(const RunSpec& spec);

/// BatchEngine::train for runs of the toy language model. Trains `shared.threads` runs at a time, at most toy_lm_at_once and as many as
/// `memory_bytes` hold. Threads begin with different worlds; the supervised steps run on the CPU. When the device fails, unfinished runs
/// are stopped as by `stop`, and their checkpoints stay.
void train_toy_lm_runs(const TransformerPlace& place, double memory_bytes, const BatchEngine::Call& call);

}  // namespace odrpo
