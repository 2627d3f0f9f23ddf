// Parts of a suite, for several machines and for ranks: runs that cost about the same, few worlds made twice; and their results joined.
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

/// Part `index` (0 …) of `count`.
struct PartOfSuite {
  std::size_t index = 0, count = 1;
  std::string text() const { return std::to_string(index) + "/" + std::to_string(count); }
  /// Of "3/8"; nothing for any other text.
  static std::optional<PartOfSuite> read(std::string_view text);
  static constexpr std::size_t most = 1'000'000;  ///< parts
};

/// An item of a row that is to be cut: what it costs, and what its world costs besides where a stretch begins with it. `opens`: it is the
/// first of its world, which is made for it wherever the row is cut.
struct CutItem {
  float cost = 0, world = 0;
  bool opens = false;
};
/// Cuts a row into `count` stretches so that the dearest is as cheap as it can be. The first item of each, and the number of items at the
/// end. No stretch is empty; count <= items.
std::vector<std::size_t> cut_evenly(std::span<const CutItem> items, std::size_t count);

/// The runs of every part, as indices in ascending order; each run is in one part. Costs are those of the cost model (core_seconds,
/// world_seconds), rounded to float, so that machines whose mathematical library differs in a last bit cut alike. The row is that of
/// RunWorlds::order(): runs that share a world lie together. Failure usage when there are more parts than runs.
std::vector<std::vector<std::uint32_t>> parts_of(const RunGrid& runs, std::size_t count);

/// Leaves the runs of one part alone in the suite. Failure as parts_of().
void take_part(Suite& suite, PartOfSuite part);

// Joins the parts of a suite that several machines trained into one result file.

struct MergeSettings {
  std::string output;  ///< the result file to make
  bool force = false;  ///< discard an output or work folder in the way
  ReadLimits limits;   ///< of reading one part; `stop` ends the merge
  System system = posix_system();
};

struct MergedParts {
  MergeReport report;
  bool complete = false;           ///< the output already held the whole suite: nothing was read
  std::vector<std::string> notes;  ///< what was left out
};

/// Every run of a part must have the words and the key that the suite gives to the run of its id: else Failure bad_input, as for a part of
/// another suite. Otherwise as WorkFolder::merge(); Failure as read_part().
MergedParts merge_parts(const Suite& suite, const SuiteFacts& facts, std::span<const Part> parts, const MergeSettings& settings);

// Hands out the runs of a suite to ranks, by cost: large shares first, small ones at the end, whole worlds where that is cheap.

class HandOut {
 public:
  /// The runs i that are not done[i], in the order of `order`.
  HandOut(const RunGrid& runs, const RunWorlds& worlds, const std::vector<std::size_t>& order, const std::vector<bool>& done);

  /// The next runs for a rank that trains `weight` runs at a time, of `all` that all ranks together do: about half of its share of what is
  /// left, one run for each of its workers at least. A share ends with a world where little of it would be left to another.
  std::vector<std::uint32_t> take(double weight, double all);
  /// Takes back runs of a rank that is gone; they are handed out next.
  void give_back(const std::vector<std::uint32_t>& runs);
  bool empty() const { return next_ == row_.size(); }
  std::size_t left() const { return row_.size() - next_; }

 private:
  double cost_of(std::uint32_t run) const { return cost_[runs_.combination_of(run)]; }

  const RunGrid& runs_;
  const RunWorlds& worlds_;
  std::vector<float> cost_;         // of the runs of a combination
  std::vector<std::uint32_t> row_;  // that are not handed out, from next_ on
  std::size_t next_ = 0;
  double seconds_ = 0;  // of those
};

}  // namespace odrpo
