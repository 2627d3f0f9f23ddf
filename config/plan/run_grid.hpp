// Holds the runs of a suite. Makes each run on demand, so that a grid takes only the memory of its plan.
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

/// The parts of a run's settings besides its seed, in canonical order. A part is one word of the grid with one value on each of its axes.
enum class GridPart { env, rater, policy, estimator, votes, learn };
inline constexpr std::size_t grid_parts = 6;

/// Consecutive runs that differ in seed, run_key and id alone.
struct Combination {
  std::size_t first = 0;  ///< index of its first run
  std::size_t runs = 0;   ///< number of its runs: one for each seed, or for each that --only selects
};

/// The runs in canonical order: entry of [grid] zip, env, rater, policy, estimator, votes, axes in suite order, seed (the last changes
/// fastest). Immutable; copies share what they hold; safe from any thread.
class RunGrid {
 public:
  /// A grid without runs.
  RunGrid() = default;
  /// All runs of the plan, of which there must be fewer than 2^32.
  explicit RunGrid(const Plan& plan);
  /// The runs with these indices only; indices in ascending order.
  RunGrid only(std::vector<std::uint32_t> chosen) const;

  std::size_t size() const;
  bool empty() const { return size() == 0; }
  RunSpec operator[](std::size_t i) const;
  RunSpec front() const;
  RunSpec back() const;
  /// The id and the seed of a run, without its other settings.
  std::string id(std::size_t i) const;
  int seed(std::size_t i) const;

  /// Combinations, for loops that ignore seeds.
  std::size_t combinations() const;
  Combination combination(std::size_t c) const;
  std::size_t combination_of(std::size_t i) const;
  /// Returns a number for run i's settings in these parts. Different settings have different numbers; so can equal ones in two entries of `zip`.
  std::size_t choice(std::size_t i, std::initializer_list<GridPart> parts) const;
  /// Every choice() of these parts is below this number.
  std::size_t choices(std::initializer_list<GridPart> parts) const;
  /// The first run of each different choice() of these parts, in canonical order.
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
  std::size_t place(std::size_t i) const;  // index of run i in the whole grid

  std::shared_ptr<const Whole> whole_;    // null = no runs
  std::shared_ptr<const Chosen> chosen_;  // null = all runs
};

}  // namespace odrpo
