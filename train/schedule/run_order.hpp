// The order of a suite's runs: those that share a world, which is made once, are neighbours.
#pragma once
#include <cstddef>
#include <cstdint>
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

}  // namespace odrpo
