// The order of a suite's runs: those that share a world, which is made once, are neighbours; and which of them a worker trains next.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/plan/run_grid.hpp"

namespace odrpo {

struct RunSpec;
struct Suite;

/// Equal for runs that have the same world for the same seed: the bandit's qualities and features, or the toy language model's prompts and
/// the weights after its supervised steps.
std::string world_text(const RunSpec& run);

/// The worlds of a grid, without their seeds.
class RunWorlds {
 public:
  explicit RunWorlds(const RunGrid& runs);
  /// A number for the world of a run: 0 … count() - 1.
  std::uint32_t world(std::size_t i) const { return place(i).world; }
  /// Do two runs share what is made for a world and a seed?
  bool same(std::size_t i, std::size_t j) const { return runs_.seed(i) == runs_.seed(j) && world(i) == world(j); }
  /// The first run of each world.
  const std::vector<std::size_t>& firsts() const { return firsts_; }
  std::size_t count() const { return firsts_.size(); }
  /// All runs: seeds outermost, then worlds by the name of their env, then raters, then the order of the suite, rotated within each world: the
  /// first run of a world is slower, and so no row of a table has that place on every seed.
  std::vector<std::size_t> order() const;

 private:
  struct Place {
    std::uint32_t world = 0, rater = 0;  ///< rater: the place of its world and rater among all of them
  };
  const Place& place(std::size_t i) const { return of_[runs_.combination_of(i)]; }
  void rotate(std::span<std::size_t> world) const;

  RunGrid runs_;
  std::vector<Place> of_;  // each combination
  std::vector<std::size_t> firsts_;
};

/// RunWorlds::order(), in which runs are started: those that share a world are neighbours, and in it those of a rater.
std::vector<std::size_t> run_order(const Suite& suite);

// Which run a worker trains next: workers start at different worlds, and share one only when no other is left.

/// The workers' runs. A worker takes a world that no worker has begun and stays with it. When all are begun, it takes half of what is
/// left of the world that has most runs left. So at most as many worlds are in use as there are workers. More runs may come while workers
/// take them. Safe from any thread.
class WorkQueue {
 public:
  /// Are two runs of one world and seed? Those are neighbours in `runs`.
  using SameWorld = std::function<bool(std::size_t, std::size_t)>;
  /// `more`: runs may be added until close(), and a worker that finds none waits for them.
  WorkQueue(std::vector<std::size_t> runs, SameWorld same_world, std::size_t workers, bool more = false);
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
