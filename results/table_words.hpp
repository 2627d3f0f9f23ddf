// The sentences and cell texts that text and Markdown tables share. Private to results/.
#pragma once
#include <string>
#include <vector>

#include "results/table.hpp"

namespace odrpo {

/// Text from a file, made safe for a terminal.
std::string printable_text(std::string text);
/// Decimals of a value's cells, at which their typical half-width keeps one digit; whole numbers get none.
int cell_decimals(const TableModel& table, std::size_t value);
/// The same of its comparisons: those of the cells, or of percentages.
int difference_decimals(const TableModel& table, std::size_t value);
/// The number of seeds that most cells report.
int table_seeds(const TableModel& table);
/// "74.1 ± 0.8", "74.1 ± n/a" (one seed), "n/a" (none); with the axis value that was chosen (where the first value stands, by which it
/// was; "!" = at the edge of those tried) and an n that differs.
std::string cell_text(const TableCell& cell, const TableModel& table, int decimals, int seeds);
/// "+0.9 ± 0.3 *" (the interval excludes 0), "0.0 ± 0.3" (rounded to zero: no sign), "baseline", "n/a".
std::string difference_text(const TableCell& cell, const TableModel& table, int decimals);
/// "votes=8", or "grounding [%]" of a value: a column's heading.
std::string column_text(const TableModel& table, std::size_t column);
/// "grpo", or "grounding [%]" of a value.
std::string row_text(const TableModel& table, std::size_t row);
/// "- grpo", or "vs grpo [%]": the heading of a column of comparisons.
std::string comparison_text(const TableModel& table, std::size_t column);
/// "rater=mixed, policy=linear": the dimensions that tell this block from the others, or (`constant`) those that all blocks share.
std::string block_text(const TableModel& table, const TableBlock& block, bool constant);
/// The formula and the rater behind a cell, as the file tells them; empty where it does not.
std::string cell_formula(const TableModel& table, const TableBlock& block, const TableCell& cell);
std::string cell_rater(const TableModel& table, const TableBlock& block, const TableCell& cell);
/// What the numbers are: value, seeds, interval, baseline rule, choice of the best. One sentence each.
std::vector<std::string> table_sentences(const TableModel& table);

}  // namespace odrpo
