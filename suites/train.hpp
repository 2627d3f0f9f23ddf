// Trains one run: RunSpec in, RunRecord out.
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>

#include "results/record.hpp"
#include "suites/keeper.hpp"
#include "suites/spec.hpp"

namespace odrpo {

/// Worlds and vote laws that runs share; made on demand, safe from any thread. Worlds are dropped when no run holds them and the
/// cache is full, so schedule runs of one seed and env next to each other.
class Shared {
 public:
  Shared();
  ~Shared();
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  /// Bytes of each kind (worlds, laws, rated worlds, supervised starts, estimators) that may stay in memory without a run that uses them.
  static constexpr std::size_t keep = std::size_t{128} << 20;
  /// Threads that one caller may use to make what a batch of runs needs.
  int threads = 1;
  struct State;
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

/// A record with the names of its run and nothing else: status failed, with the reason.
RunRecord failed_record(const RunSpec& spec, const std::string& why);

/// Trains the run, serially. `stop` is looked at between steps: a stopped run returns status failed with error "stopped" and must not
/// be committed. Throws nothing but std::bad_alloc; a run that diverges (non-finite parameters) returns status failed with its reason.
/// Runs of the toy language model leave checkpoints with `keeper`, and go on from those they find there: to the same bits.
RunRecord train(const RunSpec& spec, Shared& shared, const std::atomic<bool>& stop, const Keeper& keeper = {});

/// Estimates for preflight, from the spec alone: rough seconds of one core, bytes of memory while running, bytes in the result file.
struct Cost {
  double cpu_seconds = 0, memory_bytes = 0, disk_bytes = 0, judge_calls = 0;
};
Cost estimate_cost(const RunSpec& spec);
/// Rough seconds to make a run's world, which all runs of one seed and env share.
double world_seconds(const RunSpec& spec);

}  // namespace odrpo
