// Declares the sentences and cell texts that the renderers of tables share. Private to results/.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "results/table/table.hpp"

namespace odrpo {

/// Calls visit(cell) for every cell that has a number.
template <class Visit>
void each_cell(const TableModel& table, Visit visit) {
  for (const TableBlock& block : table.blocks)
    for (const TableCell& cell : block.cells)
      if (cell.n > 0) visit(cell);
}

/// "grpo", or "votes=1" of a number; "baseline" where rows have several.
std::string baseline_text(const TableModel& table);
/// The headings behind a column of a value: "- grpo" or "vs grpo [%]"; with --power "sd - grpo", "seeds", "seeds of 10".
std::vector<std::string> comparison_headings(const TableModel& table, std::size_t value);

/// How the numbers of a table are written, the same in all its blocks.
struct NumberStyle {
  std::vector<int> decimals, difference_decimals;  ///< of each value: at which the typical half-width of its cells keeps one digit
  int seeds = 0;                                   ///< seeds that most cells report; the others show theirs
};
NumberStyle number_style(const TableModel& table);

/// The body of one block as texts: heading of each column, then rows; columns of one value (cell and comparison) belong together.
struct Grid {
  std::vector<std::vector<std::string>> heading;            ///< per column: its heading, and those of its comparison
  std::vector<std::vector<std::vector<std::string>>> body;  ///< per row, per column: as many texts
};
Grid grid_of(const TableModel& table, const TableBlock& block, const NumberStyle& style);

/// "grpo", or "grounding [%]" of a value.
std::string row_text(const TableModel& table, std::size_t row);
/// "rater=mixed, policy=linear": the dimensions that tell this block from the others, or (`constant`) those that all blocks share.
std::string block_text(const TableModel& table, const TableBlock& block, bool constant);
/// The formula and the rater behind a cell, as the file states them; empty where it does not.
std::string cell_formula(const TableModel& table, const TableBlock& block, const TableCell& cell);
std::string cell_rater(const TableModel& table, const TableBlock& block, const TableCell& cell);
/// What the numbers are: value, seeds, interval, baseline rule, choice of the best. One sentence each; none, the shortest that say it, or all.
std::vector<std::string> table_sentences(const TableModel& table, Legend legend);
/// Says which cells a renderer shows bold (TableCell::among_best), without a full stop; empty where no value has a best.
std::string best_sentence(const TableModel& table);
/// Does a group begin with this row, which is not the first? Rows of a group stand together, its baseline first; rows of no group are last.
bool begins_group(const TableModel& table, std::size_t row);
/// "suite quickstart, digest 0123456789ab: gain [%]".
std::string table_title(const TableModel& table);

}  // namespace odrpo
