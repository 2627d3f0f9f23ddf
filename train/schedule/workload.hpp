// How much of a suite's work is done, in steps and in estimated seconds: what progress and its ETA are made of.
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

/// Seconds are those of one core as the cost model estimates them: only their ratio is used.
struct Work {
  std::uint64_t steps_total = 0;  ///< of all runs of the suite
  std::uint64_t steps_done = 0;   ///< those of earlier calls too; of a run that failed all, since none of them is left
  double seconds_seen = 0;        ///< of what this call has trained and made; of a world in the making a guess
  double seconds_left = 0;        ///< of what is to be trained and made
  int worlds_in_making = 0;
  std::uint64_t world_steps_total = 0, world_steps_done = 0;  ///< of those, where they are counted
};

/// Seconds that the work left takes if it goes on as it went for `elapsed` seconds; negative when nothing is known yet.
double seconds_to_go(const Work& work, double elapsed);

/// The work of one call. Workers say where they are, any thread asks how far all are.
class Workload {
 public:
  /// The runs i that are not done[i], and the worlds of those that `rest` gives to `workers` workers or to engines that train step by step.
  /// The tests have a clock of their own.
  Workload(const RunGrid& runs, const std::vector<bool>& done, const Schedule& rest, const RunWorlds& worlds, std::size_t workers,
           std::size_t engines = 0, std::function<double()> clock = now_seconds);

  /// Of an engine the first of its places, which begin and end runs as workers do.
  std::size_t places_of_engine(std::size_t engine) const;

  /// Worker `w` begins a run; it makes the run's world first when it opens it. Returns where the run's steps are counted.
  RunSteps& begin(std::size_t w, const RunSpec& spec, bool opens_world);
  /// The run of worker `w` has finished or failed.
  void end(std::size_t w);
  /// An engine has trained a run.
  void add_batched(const RunSpec& spec);

  Work now() const;

 private:
  struct Worker {
    RunSteps steps;  // of the run that it trains
    int run_steps = 0;
    double run_seconds = 0, world_seconds = 0;  // world_seconds: 0 when it does not open the world
    double began = 0;                           // its run, by the clock
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
  Work finished_;                // of runs that have ended; what the others have done is not in it. Under mutex_
  std::vector<Worker> workers_;  // but for their steps under mutex_
};

}  // namespace odrpo
