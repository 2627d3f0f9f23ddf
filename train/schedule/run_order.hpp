// Declares the order of a suite's runs, in which runs of one world are neighbours, and the queue from which workers take them.
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

/// Returns a text that is equal for runs whose worlds are the same if their seeds are. A world is the bandit's qualities and features, or
/// the toy language model's prompts and the weights after its supervised steps.
std::string world_text(const RunSpec& run);

/// Groups the runs of a grid by world, whatever their seeds.
class RunWorlds {
 public:
  explicit RunWorlds(const RunGrid& runs);
  /// Returns the index of the run's world: 0 … count() - 1.
  std::uint32_t world(std::size_t i) const { return place(i).world; }
  /// Returns whether two runs have the same world and the same seed, and so share what is made for these.
  bool same(std::size_t i, std::size_t j) const { return runs_.seed(i) == runs_.seed(j) && world(i) == world(j); }
  /// Returns the index of the first run of each world.
  const std::vector<std::size_t>& firsts() const { return firsts_; }
  std::size_t count() const { return firsts_.size(); }
  /// Returns all runs, sorted by seed, then by world (in the order of their envs' names), then by rater, then as in the suite. The runs of
  /// one world and seed are rotated by the seed, because the first of them is slower: it makes the world. So no row of a table is first on
  /// every seed.
  std::vector<std::size_t> order() const;

 private:
  struct Place {
    std::uint32_t world = 0, rater = 0;  ///< rater: index of the pair of world and rater
  };
  const Place& place(std::size_t i) const { return of_[runs_.combination_of(i)]; }
  void rotate(std::span<std::size_t> world) const;

  RunGrid runs_;
  std::vector<Place> of_;  // by combination
  std::vector<std::size_t> firsts_;
};

/// Returns the order in which a suite's runs are started: RunWorlds::order(). Runs of one world are neighbours; within a world, runs of one
/// rater are.
std::vector<std::size_t> run_order(const Suite& suite);

// Which run a worker trains next. Workers begin different worlds; two workers share a world only when every world has been begun.

/// The queue of runs for workers. A worker takes a world that no worker has begun, and stays with it. When all worlds are begun, it takes
/// half of the remaining runs of the world with most of them. So at most as many worlds are in use as there are workers. Runs may be added
/// while workers take them. Safe from any thread.
class WorkQueue {
 public:
  /// Returns whether two runs have the same world and seed. Such runs must be neighbours in `runs`.
  using SameWorld = std::function<bool(std::size_t, std::size_t)>;
  /// `more`: runs may be added until close(), and a worker that finds none waits for them.
  WorkQueue(std::vector<std::size_t> runs, SameWorld same_world, std::size_t workers, bool more = false);
  void add(const std::vector<std::size_t>& runs);
  void close();

  struct Taken {
    std::size_t run = 0;
    bool opens_world = false;  ///< this is the first run of its world: what runs of the world share must still be made
  };
  /// Returns the next run of worker `w`; nothing when none is left and none can be added.
  std::optional<Taken> next(std::size_t w);
  /// Returns the number of runs that no worker has taken.
  std::size_t waiting();

 private:
  struct Share {  // a worker's runs: indices next … end - 1 into runs_
    std::size_t next = 0, end = 0;
    std::size_t left() const { return end - next; }
  };
  std::optional<Taken> take(std::size_t w);

  const SameWorld same_world_;
  std::mutex mutex_;
  std::condition_variable came_;
  bool more_;                      // under mutex_
  std::vector<std::size_t> runs_;  // under mutex_
  std::vector<Share> of_;      // by worker; under mutex_
  std::size_t untouched_ = 0;  // index into runs_: first run of the worlds that no worker has begun; under mutex_
};

}  // namespace odrpo
