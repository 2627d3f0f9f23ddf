// Declares the sentences and cell texts that all renderers of tables share. Private to results/.
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

/// The baseline's name for headings: its label, "grpo", or "votes=1" if it is a number; "baseline" if there are several baselines.
std::string baseline_text(const TableModel& table);
/// The headings of the comparison columns of a value: "- grpo" or "vs grpo [%]"; with --power "sd - grpo", "seeds", "seeds of 10".
std::vector<std::string> comparison_headings(const TableModel& table, std::size_t value);

/// How numbers are printed in all blocks of a table: their decimals, and the usual number of seeds.
struct NumberStyle {
  std::vector<int> decimals, difference_decimals;  ///< for each value: as many as leave one digit of the typical half-width of an interval
  int seeds = 0;                                   ///< seeds that most cells report; a cell with another number shows it
};
NumberStyle number_style(const TableModel& table);

/// One block as texts. A column of the table has several texts: its value, and those of its comparison with the baseline.
struct Grid {
  std::vector<std::vector<std::string>> heading;            ///< for each column: its heading, and the headings of its comparison
  std::vector<std::vector<std::vector<std::string>>> body;  ///< for each row and column: as many texts as the heading has
};
Grid grid_of(const TableModel& table, const TableBlock& block, const NumberStyle& style);

/// The label of a dimension's value, of the names "AXIS=VALUE" and "VALUE"; without a label `plain`.
std::string label_or(const TableModel& table, const std::string& dimension, const std::string& value, std::string plain);
/// The name of a dimension's value where nothing else names the dimension: its label, "grpo", or "votes=8" for a number.
std::string entry_text(const TableModel& table, const std::string& dimension, const std::string& value);
/// Returns a row's name as printed: its label, "grpo", or "grounding [%]" if rows are values.
std::string row_text(const TableModel& table, std::size_t row);
/// Returns "rater=mixed, policy=linear": dimensions in which this block differs from others. With `constant`: those that all blocks share.
std::string block_text(const TableModel& table, const TableBlock& block, bool constant);
/// The formula (or the rater) of a cell, as the result file states it; empty if the file does not.
std::string cell_formula(const TableModel& table, const TableBlock& block, const TableCell& cell);
std::string cell_rater(const TableModel& table, const TableBlock& block, const TableCell& cell);
/// Sentences that explain the numbers: value, seeds, interval, baseline, choice of the best. `legend`: no sentences, the shortest that
/// suffice, or all.
std::vector<std::string> table_sentences(const TableModel& table, Legend legend);
/// The sentence that says which cells are bold (TableCell::among_best), without a full stop; empty if no value has a best.
std::string best_sentence(const TableModel& table);
/// True if a group of rows begins with this row, which is not the first. Rows of a group are neighbours, its baseline first; rows of no
/// group are last.
bool begins_group(const TableModel& table, std::size_t row);
/// Title of a table, e.g. "suite quickstart, digest 0123456789ab: gain [%]".
std::string table_title(const TableModel& table);

}  // namespace odrpo
