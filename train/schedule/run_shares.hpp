// Which run a worker trains next: workers start at different worlds, and share one only when no other is left.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

namespace odrpo {

/// The workers' runs. A worker takes a world that no worker has begun and stays with it. When all are begun, it takes half of what is
/// left of the world that has most runs left. So at most as many worlds are in use as there are workers. More runs may come while workers
/// take them. Safe from any thread.
class RunShares {
 public:
  /// Are two runs of one world and seed? Those are neighbours in `runs`.
  using SameWorld = std::function<bool(std::size_t, std::size_t)>;
  /// `more`: runs may be added until close(), and a worker that finds none waits for them.
  RunShares(std::vector<std::size_t> runs, SameWorld same_world, std::size_t workers, bool more = false);
  void add(const std::vector<std::size_t>& runs);
  void close();

  struct Taken {
    std::size_t run = 0;
    bool opens_world = false;  ///< it is the first of its world: what the world's runs share is not made yet
  };
  /// The next run of worker `w`; nothing when none is left and none can come.
  std::optional<Taken> next(std::size_t w);
  /// Runs that no worker has taken.
  std::size_t waiting();

 private:
  struct Share {  // places in runs_
    std::size_t next = 0, end = 0;
    std::size_t left() const { return end - next; }
  };
  std::optional<Taken> take(std::size_t w);

  const SameWorld same_world_;
  std::mutex mutex_;
  std::condition_variable came_;
  bool more_;                      // under mutex_
  std::vector<std::size_t> runs_;  // under mutex_
  std::vector<Share> of_;      // each worker; under mutex_
  std::size_t untouched_ = 0;  // place of the first run of a world that no worker has begun; under mutex_
};

}  // namespace odrpo
