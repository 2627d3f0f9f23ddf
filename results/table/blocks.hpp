// The cells of a table's blocks from the runs of a file. Private to results/.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "results/table/cells.hpp"
#include "results/table/best_choice.hpp"
#include "results/table/dimensions.hpp"

namespace odrpo {

/// What the cells of a table are made of.
struct TableSource {
  std::vector<Dimension> dimensions;
  RunFacts facts;
  std::vector<Shown> shown;              ///< the values, in the order of the spec
  std::vector<const Dimension*> others;  ///< neither rows, columns nor best: one block per combination
  std::vector<const Dimension*> best, following;
  Combinations blocks, choices;

  ChoiceRule rule(const TableSpec& spec) const { return {best, choices, facts, spec, shown[0]}; }

  /// nullptr for the dimension `value`, which no axis is called then.
  const Dimension* dimension(const std::string& name) const {
    const auto found = std::find_if(dimensions.begin(), dimensions.end(), [&](const Dimension& d) { return d.name == name; });
    return found == dimensions.end() ? nullptr : &*found;
  }
};

/// Runs by block, row and column. Where a dimension of the table is `value`, all its entries are made of the same runs.
struct RunPools {
  std::size_t rows, columns;  ///< at least 1 each
  SortedRuns runs;
  std::size_t in_block(std::size_t row, std::size_t column) const {
    return std::min(row, rows - 1) * columns + std::min(column, columns - 1);
  }
  std::span<const std::uint32_t> of(std::size_t block, std::size_t row, std::size_t column) const {
    return runs.of(block * rows * columns + in_block(row, column));
  }
};
RunPools pools_of(const TableSource& from, const TableSpec& spec, std::size_t runs);

/// The cells of one block, row by row, with their comparisons (p_holm aside). The table has its spec, values, rows and columns.
std::vector<TableCell> block_cells(const TableModel& table, const TableSource& from, const RunPools& pools, std::size_t block);

}  // namespace odrpo
