// How many steps of its run a worker has done: what the training loop tells whoever shows progress.
#pragma once
#include <atomic>

namespace odrpo {

/// Written by the thread that trains, read by any; on a cache line of its own, so that readers and other workers cost the loop nothing.
struct alignas(64) RunSteps {
  static constexpr int not_begun = -1;
  std::atomic<int> restored{not_begun};  ///< steps that a checkpoint brought; not_begun while what comes before the steps is made
  std::atomic<int> done{0};              ///< those too

  void begin(int t) {
    done.store(t, std::memory_order_relaxed);
    restored.store(t, std::memory_order_release);
  }
  void reached(int t) { done.store(t, std::memory_order_relaxed); }
  void clear() {
    restored.store(not_begun, std::memory_order_relaxed);
    done.store(0, std::memory_order_relaxed);
  }
};

}  // namespace odrpo
