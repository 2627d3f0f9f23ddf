// One part of a suite for each of several machines: runs that cost about the same, few worlds made twice.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace odrpo
