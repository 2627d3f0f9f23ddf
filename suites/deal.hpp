// Which runs go to engines of lanes, in which batches, and which the workers train.
#pragma once
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "suites/lane_engine.hpp"
#include "suites/spec.hpp"

namespace odrpo {

/// Rough seconds of one core, from the spec alone.
double core_seconds(const RunSpec& spec);

/// What dealing must know of a run, which does not depend on its seed; the tests have rules of their own.
struct LaneRules {
  std::function<std::string(const RunSpec&)> why_no_lane = odrpo::why_no_lane;
  std::function<std::string(const RunSpec&)> lane_shape = odrpo::lane_shape;
  std::function<double(const RunSpec&)> lane_bytes = odrpo::lane_bytes;
  std::function<double(const RunSpec&)> seconds = core_seconds;  ///< what runs of one shape cost against those of another
};

/// Runs of one shape that an engine trains in one call.
struct Batch {
  std::vector<std::size_t> runs;  ///< in the order of the schedule
  double bytes = 0;               ///< of an engine's memory
  double seconds = 0;             ///< rough, of one core
};

/// Why so many runs train on the CPU.
struct Laneless {
  std::string why;
  std::size_t runs = 0;
};

struct Deal {
  std::deque<Batch> batches;         ///< in the order in which engines should take them
  std::vector<std::size_t> workers;  ///< runs for the CPU's workers, in the order of the schedule
  std::vector<Laneless> why;         ///< of those, most runs first; empty when there is no engine
  std::size_t in_batches() const;    ///< runs that go to engines
};

/// Deals the runs of `todo` (indices into `runs`, in the order of the schedule). Every batch fits the memory of one engine at least.
Deal deal(const RunGrid& runs, std::vector<std::size_t> todo, const std::vector<LaneEngine>& engines, const LaneRules& rules);

/// Takes away the first batch that fits into so many bytes; nothing when none does.
std::optional<Batch> next_batch(std::deque<Batch>& batches, double memory_bytes);

}  // namespace odrpo
