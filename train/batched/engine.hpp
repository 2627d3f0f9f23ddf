// BatchEngine: trains many runs at once. A CUDA device is one (device_engine.cpp); the tests have a host backend. The
// scheduler (train/schedule/scheduler.hpp) gives runs to engines and the rest to workers.
#pragma once
#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "config/catalogue/env_config.hpp"
#include "kernels/device/devices.hpp"
#include "results/store/record.hpp"

namespace odrpo {

struct CheckpointStore;
class RunCache;
struct RunSpec;
struct RunSteps;

/// Trains runs that can be batched, of one world and of any shapes; better of one (batch_shape). Blocks until all are done or `stop` is
/// set.
struct BatchEngine {
  std::string name;         ///< for people: "cuda:0 (NVIDIA H200)"
  double memory_bytes = 0;  ///< that its runs may take together
  /// Takes each finished record, of a run that failed too, one after another; none of a run that `stop` interrupted.
  using Done = std::function<void(RunRecord)>;
  /// Whoever shows progress hears of runs that train side by side, each at a place of its own: 0 .. at_once - 1. Nothing set = nobody.
  struct Progress {
    std::function<RunSteps&(std::size_t place, const RunSpec& run, bool opens_world)> begin = {};
    std::function<void(std::size_t place)> end = {};
  };
  struct Call {
    const std::vector<const RunSpec*>& runs;
    RunCache& shared;
    const std::atomic<bool>& stop;
    const CheckpointStore& store;  ///< of long runs that train step by step: those of the toy language model
    const Done& done;
    const Progress& progress;
  };
  /// Records of the bandit have the bits of train(). Throws Failure(Exit::device) when the device fails: what was handed over before stays
  /// good.
  std::function<void(const Call&)> train;
  std::function<double()> seconds = {};  ///< that its kernels for batched runs of the bandit have run so far; empty = not known
  std::function<std::string()> no_transformers = {};  ///< why it can train no transformer; empty, or not set = it can
  double host_bytes = 1e300;                          ///< of the host's memory, through which batches of the bandit pass
  /// What its runs of a world may take together.
  double room(WorldKind world) const { return world == WorldKind::bandit ? std::min(memory_bytes, host_bytes) : memory_bytes; }
};

/// Why a run cannot be batched, as shown after "N runs train on the CPU: "; empty = it can.
std::string why_not_batched(const RunSpec& spec);
/// Runs of equal text go together best: the same sizes and number of steps.
std::string batch_shape(const RunSpec& spec);
/// Bytes of an engine's memory that a run takes, with a world, distributions and an estimator of its own.
double batched_bytes(const RunSpec& spec);
/// Runs of a batch that an engine trains at a time, at most; the others wait for their turn and take no memory.
std::size_t batched_at_once(const RunSpec& spec);

// CUDA devices as engines that train many runs at once.

/// An engine on CUDA device `index` of find_devices(), which multiplies for transformers in `precision`. Throws Failure(Exit::device) when
/// it cannot be used, or when this build has no CUDA.
BatchEngine cuda_engine(int index, ProductPrecision precision);

}  // namespace odrpo
