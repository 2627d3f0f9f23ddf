// Declares the training of one run: RunSpec in, RunRecord out.
#pragma once
#include <atomic>

#include "train/checkpoint/checkpoint.hpp"

namespace odrpo {

struct Cost;
class RunCache;
struct RunRecord;
struct RunSpec;
struct RunSteps;

/// Trains the run in this thread. `stop` is checked between steps: a stopped run returns status failed with error "stopped" and must not be
/// committed. A run that diverges (non-finite parameters) returns status failed with its reason. Throws std::bad_alloc, and Failure where
/// the world's scores or the model of its judge cannot be made. Long runs leave checkpoints in the store, and go on from those they find
/// there, to the same bits. `steps`, unless null, counts the steps. Subnormal numbers are zero while it trains (FlushSubnormals).
RunRecord train(const RunSpec& spec, RunCache& cache, const std::atomic<bool>& stop, const CheckpointStore& store = {},
                RunSteps* steps = nullptr);

/// As train(), for a run of the toy language model whose transformer is trained at `place`. Failure `device` if the device fails.
struct TransformerPlace;
RunRecord train_toy_lm(const RunSpec& spec, RunCache& cache, const std::atomic<bool>& stop, const CheckpointStore& store, RunSteps* steps,
                       const TransformerPlace& place);

/// Returns the estimated cost of a run, for the preflight check of a suite; without what the run shares with other runs.
Cost estimate_cost(const RunSpec& spec);
/// Return the bytes of a run's world, and rough seconds to make it; for the toy language model, of the weights after its supervised steps.
/// All runs of one seed and env share it.
double world_bytes(const RunSpec& spec);
double world_seconds(const RunSpec& spec);

}  // namespace odrpo
