// The runs of a suite. Each is made when it is asked for, so that a grid takes the memory of its plan, however many runs it has.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace odrpo {

struct Plan;
struct RunSpec;

/// The parts of a run besides its seed, in canonical order. A part is a word of the grid and the values of that section's axes.
enum class GridPart { env, rater, policy, estimator, votes, learn };
inline constexpr std::size_t grid_parts = 6;

/// Runs that differ in seed, run_key and id alone. They are next to each other.
struct Combination {
  std::size_t first = 0;  ///< index of its first run
  std::size_t runs = 0;   ///< one for each seed, or those of them that --only chose
};

/// The runs in canonical order: entry of [grid] zip, env, rater, policy, estimator, votes, axes in suite order, seed (the last changes
/// fastest). Immutable; copies share what they hold; safe from any thread.
class RunGrid {
 public:
  /// No runs.
  RunGrid() = default;
  /// All runs of the plan, of which there must be fewer than 2^32.
  explicit RunGrid(const Plan& plan);
  /// Those of these runs alone: indices in ascending order.
  RunGrid only(std::vector<std::uint32_t> chosen) const;

  std::size_t size() const;
  bool empty() const { return size() == 0; }
  RunSpec operator[](std::size_t i) const;
  RunSpec front() const;
  RunSpec back() const;
  /// The id and the seed of a run, without the rest.
  std::string id(std::size_t i) const;
  int seed(std::size_t i) const;

  /// What loops use that do not look at seeds.
  std::size_t combinations() const;
  Combination combination(std::size_t c) const;
  std::size_t combination_of(std::size_t i) const;
  /// A number for the values that the run has in these parts: runs have the same number when they have the same values.
  std::size_t choice(std::size_t i, std::initializer_list<GridPart> parts) const;
  /// How many such numbers there are: each is less.
  std::size_t choices(std::initializer_list<GridPart> parts) const;
  /// The first run of each choice of these parts, in canonical order.
  std::vector<std::size_t> first_of_each(std::initializer_list<GridPart> parts) const;

  /// Makes a run at each dereference. Dereferences by value, so for C++17 algorithms it is an input iterator.
  class Iterator {
   public:
    using value_type = RunSpec;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = RunSpec;
    using iterator_category = std::input_iterator_tag;
    using iterator_concept = std::forward_iterator_tag;
    Iterator() = default;
    Iterator(const RunGrid* grid, std::size_t at) : grid_(grid), at_(at) {}
    RunSpec operator*() const;
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++at_;
      return before;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const RunGrid* grid_ = nullptr;
    std::size_t at_ = 0;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }

 private:
  struct Whole;
  struct Chosen;
  std::size_t place(std::size_t i) const;  // in the whole grid

  std::shared_ptr<const Whole> whole_;    // null = no runs
  std::shared_ptr<const Chosen> chosen_;  // null = all runs
};

}  // namespace odrpo
