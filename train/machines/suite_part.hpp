// Declares parts of a suite, for several machines and for ranks (about equal costs, few worlds made twice), and the merge of their results.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/plan/run_grid.hpp"
#include "results/store/store.hpp"
#include "train/schedule/run_order.hpp"

namespace odrpo {

class RunGrid;
struct Suite;

/// Part number `index` (0 …) of a suite that is cut into `count` parts.
struct PartOfSuite {
  std::size_t index = 0, count = 1;
  std::string text() const { return std::to_string(index) + "/" + std::to_string(count); }
  /// Reads "3/8" as part 3 of 8. Nothing for any other text, or when there is no such part.
  static std::optional<PartOfSuite> read(std::string_view text);
  static constexpr std::size_t most = 1'000'000;  ///< largest count
};

/// A run in the sequence of runs that is cut into parts: its cost, and the cost of making its world. `opens`: it is the first run of its
/// world in the sequence. A part makes the world of its first run, and of each run that opens one.
struct CutItem {
  float cost = 0, world = 0;
  bool opens = false;
};
/// Cuts the sequence into `count` parts, so that the cost of the most expensive part is as low as possible. No part is empty; `count` is at
/// most the number of items. Returns the index of the first item of each part, then the number of items.
std::vector<std::size_t> cut_evenly(std::span<const CutItem> items, std::size_t count);

/// Returns the runs of every part, as indices in ascending order; each run is in one part. The sequence that is cut is RunWorlds::order(),
/// in which runs of one world are neighbours. Costs are core_seconds() and world_seconds(), rounded to float: machines whose mathematical
/// libraries differ in a last bit then cut the suite alike. Failure `usage` if there are more parts than runs.
std::vector<std::vector<std::uint32_t>> parts_of(const RunGrid& runs, std::size_t count);

/// Keeps only the runs of one part in the suite. Failure `usage` if there is no such part, or more parts than runs.
void take_part(Suite& suite, PartOfSuite part);

// Joins the parts of a suite that several machines trained into one result file.

struct MergeSettings {
  std::string output;  ///< the result file to make
  bool force = false;  ///< begin anew: discard an output or a work folder that is in the way
  ReadLimits limits;   ///< most CPU time and memory for reading one part; `stop` ends the merge
  System system = posix_system();
};

struct MergedParts {
  MergeReport report;
  bool complete = false;           ///< the output already held the whole suite, so nothing was read
  std::vector<std::string> notes;  ///< messages: what was left out
};

/// Merges the parts of a suite into one result file, by WorkFolder::merge(). Failure `bad_input` if a run of a part differs from the
/// suite's run of its id in names, key (spec_key()) or recorded steps, as in a part of another suite. Other Failures are those of
/// read_part().
MergedParts merge_parts(const Suite& suite, const SuiteFacts& facts, std::span<const Part> parts, const MergeSettings& settings);

// Hands out the runs of a suite to ranks by cost: many runs at first, few at the end, whole worlds where that is cheap.

class HandOut {
 public:
  /// Begins with the runs i that are not done[i], in the order of `order`.
  HandOut(const RunGrid& runs, const RunWorlds& worlds, const std::vector<std::size_t>& order, const std::vector<bool>& done);

  /// Returns the next runs for a rank that trains `weight` runs at a time; all ranks together train `all`. They cost about half of the
  /// rank's share of the remaining work, and are at least one run for each of its workers. The rest of the last run's world is included if
  /// it costs little.
  std::vector<std::uint32_t> take(double weight, double all);
  /// Takes back the runs of a rank that is gone; they are handed out next.
  void give_back(const std::vector<std::uint32_t>& runs);
  bool empty() const { return next_ == row_.size(); }
  std::size_t left() const { return row_.size() - next_; }

 private:
  double cost_of(std::uint32_t run) const { return cost_[runs_.combination_of(run)]; }

  const RunGrid& runs_;
  const RunWorlds& worlds_;
  std::vector<float> cost_;         // cost of a run, by combination
  std::vector<std::uint32_t> row_;  // runs that are not handed out, from index next_ on
  std::size_t next_ = 0;
  double seconds_ = 0;  // cost of the runs that are not handed out
};

}  // namespace odrpo
