// Trains one run: RunSpec in, RunRecord out.
#pragma once
#include <atomic>

#include "train/checkpoint/checkpoint.hpp"

namespace odrpo {

struct Cost;
class RunCache;
struct RunRecord;
struct RunSpec;
struct RunSteps;

/// Trains the run, serially. `stop` is looked at between steps: a stopped run returns status failed with error "stopped" and must not
/// be committed. Throws nothing but std::bad_alloc; a run that diverges (non-finite parameters) returns status failed with its reason.
/// Long runs leave checkpoints in the store, and go on from those they find there: to the same bits. Steps are counted in `steps` unless it
/// is null. Subnormal numbers are zero while it trains (FlushSubnormals).
RunRecord train(const RunSpec& spec, RunCache& cache, const std::atomic<bool>& stop, const CheckpointStore& store = {},
                RunSteps* steps = nullptr);

/// The same of a run of the toy language model whose transformer trains at `place`; throws Failure(Exit::device) when that fails.
struct TransformerPlace;
RunRecord train_toy_lm(const RunSpec& spec, RunCache& cache, const std::atomic<bool>& stop, const CheckpointStore& store, RunSteps* steps,
                       const TransformerPlace& place);

/// For preflight: what the run costs, without what it shares with others.
Cost estimate_cost(const RunSpec& spec);
/// Bytes of a run's world or of the weights after its supervised steps, and rough seconds to make them: all runs of one seed and env share
/// them.
double world_bytes(const RunSpec& spec);
double world_seconds(const RunSpec& spec);

}  // namespace odrpo
