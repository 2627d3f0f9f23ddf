// The sentences and cell texts that text and Markdown tables share. Private to results/.
#pragma once
#include <string>
#include <vector>

#include "results/table.hpp"

namespace odrpo {

/// How the numbers of a table are written, the same in all its blocks.
struct NumberStyle {
  std::vector<int> decimals, difference_decimals;  ///< of each value: at which the typical half-width of its cells keeps one digit
  int seeds = 0;                                   ///< which most cells report: the others show theirs
};
NumberStyle number_style(const TableModel& table);

/// The body of one block as texts: heading of each column, then rows; columns of one value (cell and difference) belong together.
struct Grid {
  std::vector<std::vector<std::string>> heading;            ///< per column: one or two headings
  std::vector<std::vector<std::vector<std::string>>> body;  ///< per row, per column: one or two texts
};
Grid grid_of(const TableModel& table, const TableBlock& block, const NumberStyle& style);

/// "grpo", or "grounding [%]" of a value.
std::string row_text(const TableModel& table, std::size_t row);
/// "rater=mixed, policy=linear": the dimensions that tell this block from the others, or (`constant`) those that all blocks share.
std::string block_text(const TableModel& table, const TableBlock& block, bool constant);
/// The formula and the rater behind a cell, as the file tells them; empty where it does not.
std::string cell_formula(const TableModel& table, const TableBlock& block, const TableCell& cell);
std::string cell_rater(const TableModel& table, const TableBlock& block, const TableCell& cell);
/// What the numbers are: value, seeds, interval, baseline rule, choice of the best. One sentence each.
std::vector<std::string> table_sentences(const TableModel& table);

}  // namespace odrpo
