// The scheduler: which runs go to engines, in which batches, and which the workers train.
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

/// Rough seconds of one core, from the spec alone.
double core_seconds(const RunSpec& spec);

/// What the scheduler must know of a run, which does not depend on its seed; the tests have rules of their own.
struct BatchRules {
  std::function<std::string(const RunSpec&)> why_not_batched = odrpo::why_not_batched;
  std::function<std::string(const RunSpec&)> batch_shape = odrpo::batch_shape;
  std::function<double(const RunSpec&)> batched_bytes = odrpo::batched_bytes;
  std::function<std::size_t(const RunSpec&)> at_once = odrpo::batched_at_once;
  std::function<double(const RunSpec&)> seconds = core_seconds;  ///< what runs of one shape cost against those of another
};

/// Runs of one shape that an engine trains in one call.
struct RunBatch {
  std::vector<std::size_t> runs;  ///< in the order of the schedule
  WorldKind world = WorldKind::bandit;
  double bytes = 0;               ///< of an engine's memory
  double seconds = 0;             ///< rough, of one core
};

/// Why so many runs train on the CPU.
struct Unbatched {
  std::string why;
  std::size_t runs = 0;
};

struct Schedule {
  std::deque<RunBatch> batches;      ///< in the order in which engines should take them
  std::vector<std::size_t> workers;  ///< runs for the CPU's workers, in the order of the schedule
  std::vector<Unbatched> why;        ///< of those, most runs first; empty when there is no engine
  std::size_t in_batches() const;    ///< runs that go to engines
};

/// Schedules the runs of `todo` (indices into `runs`, in the order of the schedule). Every batch fits the memory of one engine at least.
Schedule make_schedule(const RunGrid& runs, std::vector<std::size_t> todo, const std::vector<BatchEngine>& engines,
                       const BatchRules& rules);

/// What is left of a schedule without the runs i that are done[i].
Schedule without_done(Schedule schedule, const std::vector<bool>& done);

/// Takes away the first batch that has room in the engine; nothing when none does.
std::optional<RunBatch> next_batch(std::deque<RunBatch>& batches, const BatchEngine& engine);

}  // namespace odrpo
