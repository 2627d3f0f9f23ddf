// Declares the scheduler: which runs go to engines, in which batches, and which the workers train.
#pragma once
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/catalogue/env_config.hpp"
#include "train/batched/engine.hpp"

namespace odrpo {

class RunGrid;
struct RunSpec;

/// Returns rough seconds of one core to train a run, from the spec alone. What the run shares with other runs is not included.
double core_seconds(const RunSpec& spec);

/// What the scheduler asks about a run; no answer depends on the run's seed. Tests have functions of their own.
struct BatchRules {
  std::function<std::string(const RunSpec&)> why_not_batched = odrpo::why_not_batched;
  std::function<std::string(const RunSpec&)> batch_shape = odrpo::batch_shape;
  std::function<double(const RunSpec&)> batched_bytes = odrpo::batched_bytes;
  std::function<std::size_t(const RunSpec&)> at_once = odrpo::batched_at_once;
  std::function<double(const RunSpec&)> seconds = core_seconds;  ///< rough seconds of one core that a run takes
};

/// Runs of one shape (batch_shape()) that an engine trains in one call.
struct RunBatch {
  std::vector<std::size_t> runs;  ///< indices, in the order of the schedule
  WorldKind world = WorldKind::bandit;
  double bytes = 0;               ///< memory that the runs take on an engine
  double seconds = 0;             ///< rough seconds of one core for all of the runs
};

/// A reason why runs train on the CPU, and the number of these runs.
struct Unbatched {
  std::string why;
  std::size_t runs = 0;
};

struct Schedule {
  std::deque<RunBatch> batches;      ///< in the order in which engines should take them
  std::vector<std::size_t> workers;  ///< runs for the CPU's workers, in the order of the schedule
  std::vector<Unbatched> why;        ///< why `workers` are in no batch, the most frequent reason first; empty when there is no engine
  std::size_t in_batches() const;    ///< number of runs that go to engines
};

/// Schedules the runs of `todo` (indices into `runs`, in the order in which they should start). Every batch fits into the memory of at
/// least one engine.
Schedule make_schedule(const RunGrid& runs, std::vector<std::size_t> todo, const std::vector<BatchEngine>& engines,
                       const BatchRules& rules);

/// Returns the schedule without the runs i for which done[i] is true.
Schedule without_done(Schedule schedule, const std::vector<bool>& done);

/// Removes and returns the first batch that fits into the engine's memory; nothing when none does.
std::optional<RunBatch> next_batch(std::deque<RunBatch>& batches, const BatchEngine& engine);

}  // namespace odrpo
