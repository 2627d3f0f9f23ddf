// Declares BatchEngine, which trains many runs at once: a CUDA device (device_engine.cpp), or the host in tests. The scheduler
// (train/schedule/scheduler.hpp) gives runs to engines and the rest to workers.
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

/// Trains runs that can be batched, all of one world; fastest if they also have one shape (batch_shape). Its train() returns when all are
/// done or `stop` is set.
struct BatchEngine {
  std::string name;         ///< name for people: "cuda:0 (NVIDIA H200)"
  double memory_bytes = 0;  ///< memory that its runs may take together
  /// Takes the record of each run that finished or failed, one record at a time. A run that `stop` interrupted has none.
  using Done = std::function<void(RunRecord)>;
  /// Shows the progress of runs that train side by side. Each of these has a number, `place`: 0 .. batched_at_once() - 1. Unset = nobody
  /// shows it.
  struct Progress {
    std::function<RunSteps&(std::size_t place, const RunSpec& run, bool opens_world)> begin = {};
    std::function<void(std::size_t place)> end = {};
  };
  struct Call {
    const std::vector<const RunSpec*>& runs;
    RunCache& shared;
    const std::atomic<bool>& stop;
    const CheckpointStore& store;  ///< checkpoints of runs that train step by step, which are those of the toy language model
    const Done& done;
    const Progress& progress;
  };
  /// Trains the runs. Records of the bandit have the same bits as those of train() (train/train.hpp). Failure `device` if the device fails;
  /// records that it handed over before stay valid.
  std::function<void(const Call&)> train;
  std::function<double()> seconds = {};  ///< seconds that its kernels for bandit runs have taken so far; not set = not known
  std::function<std::string()> no_transformers = {};  ///< why it can train no transformer; an empty text, or not set = it can
  std::function<std::string(const RunSpec&)> too_large = {};  ///< why it has no room for a batch of this run of the bandit; an empty text, or not set = it has
  double host_bytes = 1e300;                          ///< memory of the host, through which batches of the bandit pass
  /// Returns the most bytes that its runs of a world may take together.
  double room(WorldKind world) const { return world == WorldKind::bandit ? std::min(memory_bytes, host_bytes) : memory_bytes; }
};

/// Returns why a run cannot be batched, as shown after "N runs train on the CPU: "; empty = it can be.
std::string why_not_batched(const RunSpec& spec);
/// Returns a text of the run's sizes and number of steps. Runs with equal texts have one shape, and train best together.
std::string batch_shape(const RunSpec& spec);
/// Returns the bytes of an engine's memory that a run takes, if it shares world, distributions and estimator with no other run.
double batched_bytes(const RunSpec& spec);
/// Returns how many runs of a batch an engine trains at a time, at most. The others wait, and take no memory meanwhile.
std::size_t batched_at_once(const RunSpec& spec);

// Makes engines of CUDA devices.

/// Returns an engine on CUDA device `index` of find_devices(). `precision`: of the matrix products of transformers. Failure `device` if the
/// device cannot be used, or if this build has no CUDA.
BatchEngine cuda_engine(int index, ProductPrecision precision);

}  // namespace odrpo
