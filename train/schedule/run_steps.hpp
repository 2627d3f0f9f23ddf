// Counts the steps that a worker has done, of its run and of making the run's world, for the display of progress.
#pragma once
#include <atomic>

namespace odrpo {

/// The thread that trains writes the counters; any thread may read them. They have a cache line of their own, so that readers and other
/// workers do not slow the training loop.
struct alignas(64) RunSteps {
  static constexpr int not_begun = -1;
  std::atomic<int> restored{not_begun};  ///< steps that a checkpoint had already done; not_begun until the first step begins
  std::atomic<int> done{0};              ///< steps done, `restored` included
  std::atomic<int> world_steps{0};       ///< supervised steps that make the run's world; 0 where there are none to count
  std::atomic<int> world_restored{0}, world_done{0};  ///< of these, done by an earlier call; done in all
  std::atomic<bool> evaluating{false};                ///< the run's policy is being evaluated, between two steps

  void begin_world(int restored_steps, int all) {
    world_restored.store(restored_steps, std::memory_order_relaxed);
    world_done.store(restored_steps, std::memory_order_relaxed);
    world_steps.store(all, std::memory_order_release);
  }
  void world_reached(int t) { world_done.store(t, std::memory_order_relaxed); }
  void begin(int t) {
    done.store(t, std::memory_order_relaxed);
    restored.store(t, std::memory_order_release);
  }
  void reached(int t) { done.store(t, std::memory_order_relaxed); }
  void clear() {
    restored.store(not_begun, std::memory_order_relaxed);
    done.store(0, std::memory_order_relaxed);
    evaluating.store(false, std::memory_order_relaxed);
    begin_world(0, 0);
  }
};

}  // namespace odrpo
