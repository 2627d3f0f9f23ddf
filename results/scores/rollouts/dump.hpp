// Collects the rows of dumps as a reader of a format adds them, and makes groups of them.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/scores/csv.hpp"
#include "results/scores/rollouts/rollouts.hpp"
#include "results/scores/rows.hpp"

namespace odrpo {

/// A row of a dump: one completion.
struct DumpRow {
  std::int64_t step = 0;
  std::string_view prompt{};    ///< its id
  std::uint64_t group = 0;      ///< what tells its group from others of the step; 0: the prompt does
  std::uint64_t identity = 0;   ///< what tells the completion from others of the step; 0: not known
  std::int32_t rank = 0;        ///< of rows with one identity
  std::uint32_t line = 1;
  double advantage = std::numeric_limits<double>::quiet_NaN(), length = std::numeric_limits<double>::quiet_NaN();
};

class DumpRows {
 public:
  explicit DumpRows(const RolloutReading& reading) : how(reading) {}
  const RolloutReading& how;
  Rollouts out;  ///< rows in the order in which they were added, until finish()

  /// Adds a row of the last file of out.files. `rewards`: [columns].
  void add(const DumpRow& row, std::span<const double> rewards) { add(row, rewards, out.files.size() - 1); }
  void add(const DumpRow& row, std::span<const double> rewards, std::size_t file);
  std::size_t rows() const { return step_.size(); }
  void note(std::string text) { out.notes.push_back(std::move(text)); }

  /// Keeps columns of rewards. `kept`: [columns].
  void keep_columns(const std::vector<bool>& kept);
  /// Of verl's ids: an id of several rows of a step is no output's, but their group's; ids of groups of one row each are none.
  void settle_groups();
  /// Of rows of one step with one identity keeps that of the highest rank, with the prompt of the lowest. Returns how many rows it dropped.
  std::size_t keep_highest();
  /// Drops batches that repeat the batch of the step before, row by row: prompt, identity, rewards and advantage. Returns how many rows it dropped.
  std::size_t drop_repeated_batches();
  /// Drops rows of steps below 1. Returns how many.
  std::size_t drop_early_steps();
  /// For a trainer whose groups have one size and whose rows of a group follow each other: finds that size, and drops runs of rows of one prompt that it does
  /// not divide, unless these are half of the rows or more. Returns how many it dropped.
  std::size_t drop_other_sizes();
  /// Steps whose prompts are those of another step in the same order, where not all steps are: "5, 10 and 15"; empty where there are none.
  std::string steps_with_equal_prompts() const;

  /// Puts rows into groups by step. Rows of one prompt in one step are several groups where their number is a multiple of the size of groups.
  /// Failure bad_input where no row has a reward; usage where the weights are of another number of columns.
  Rollouts finish();

 private:
  std::vector<std::uint32_t> by_step() const;
  void keep(const std::vector<bool>& kept);
  template <class T>
  void arrange(std::vector<T>& list, const std::vector<std::uint32_t>& order, std::size_t width = 1);
  std::uint32_t size_of_groups(const std::vector<std::uint32_t>& counts) const;
  void check_groups();

  IdTable prompts_;
  std::vector<std::int64_t> step_;
  std::vector<std::uint32_t> prompt_;
  std::vector<std::uint64_t> group_, identity_;  ///< empty while all are 0
  std::vector<std::int32_t> rank_;               ///< with identity_
  std::uint32_t size_ = 0;                       ///< of all groups; 0 = not known
};

}  // namespace odrpo
