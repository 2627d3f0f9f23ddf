// How many steps of its run, and of the world before it, a worker has done: what the training loop tells whoever shows progress.
#pragma once
#include <atomic>

namespace odrpo {

/// Written by the thread that trains, read by any; on a cache line of its own, so that readers and other workers cost the loop nothing.
struct alignas(64) RunSteps {
  static constexpr int not_begun = -1;
  std::atomic<int> restored{not_begun};  ///< steps that a checkpoint brought; not_begun while what comes before the steps is made
  std::atomic<int> done{0};              ///< those too
  std::atomic<int> world_steps{0};       ///< of making the run's world, where they are counted: supervised steps; else 0
  std::atomic<int> world_restored{0}, world_done{0};  ///< those that an earlier call stored; those too

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
    begin_world(0, 0);
  }
};

}  // namespace odrpo
