// Declares how much of a suite's work is done, in steps and in estimated seconds, for progress and its ETA.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "kernels/shared/clock.hpp"
#include "train/schedule/run_steps.hpp"

namespace odrpo {

class RunGrid;
struct RunSpec;
class RunWorlds;
struct Schedule;

/// Work that is done and work that is left. Seconds are those of one core by the cost model; only their ratio is used.
struct Work {
  std::uint64_t steps_total = 0;  ///< of all runs of the suite
  std::uint64_t steps_done = 0;   ///< earlier calls included; a failed run counts with all its steps, since none is left
  double seconds_seen = 0;        ///< estimate of the work that this call has done; for a world that is being made a guess
  double seconds_left = 0;        ///< estimate of the work that is left
  int worlds_in_making = 0;
  std::uint64_t world_steps_total = 0, world_steps_done = 0;  ///< steps of these worlds, where they are counted
  std::uint64_t steps_trained = 0;  ///< by this call
  int evaluations = 0;              ///< runs whose policies are being evaluated
};

/// Returns the seconds that the rest of the work takes at the mean speed of the `elapsed` seconds so far; negative = speed not known yet.
double seconds_to_go(const Work& work, double elapsed);

/// Tracks the work of one call. Workers report where they are; any thread can ask how much is done.
class Workload {
 public:
  /// Counts the runs i that are not done[i], and the worlds that must be made for the runs of `rest`. Worlds count for workers, and for
  /// engines that train step by step. Tests have a clock of their own.
  Workload(const RunGrid& runs, const std::vector<bool>& done, const Schedule& rest, const RunWorlds& worlds, std::size_t workers,
           std::size_t engines = 0, std::function<double()> clock = now_seconds);

  /// Returns the number `w`, for begin() and end(), of an engine's first run. The runs that it trains side by side have w, w + 1, ….
  std::size_t places_of_engine(std::size_t engine) const;

  /// Worker `w` begins a run; with `opens_world` it makes the run's world first. Returns the counters of the run's steps.
  RunSteps& begin(std::size_t w, const RunSpec& spec, bool opens_world);
  /// The run of worker `w` has finished or failed.
  void end(std::size_t w);
  /// An engine has trained a run of a batch.
  void add_batched(const RunSpec& spec);

  Work now() const;

 private:
  struct Worker {
    RunSteps steps;  // of the run that it trains
    int run_steps = 0;
    double run_seconds = 0, world_seconds = 0;  // world_seconds: 0 when it does not make the run's world
    double began = 0;                           // time at which it began the run
    bool used = false, busy = false;
    bool before_steps() const { return busy && steps.restored.load(std::memory_order_acquire) == RunSteps::not_begun; }
    bool counts_world() const { return steps.world_steps.load(std::memory_order_acquire) > 0; }
    double world_part(int steps_of_world) const {
      return world_seconds * steps_of_world / steps.world_steps.load(std::memory_order_relaxed);
    }
  };
  static void add_part(const Worker& worker, Work& to);
  void add_worlds(Work& to) const;

  const std::function<double()> clock_;
  const double start_;
  const std::size_t engines_;
  mutable std::mutex mutex_;
  Work finished_;                // work of ended runs, without that of runs in progress; under mutex_
  std::vector<Worker> workers_;  // under mutex_, except their atomic `steps`
};

}  // namespace odrpo
