// The sentences and cell texts that text and Markdown tables share. Private to results/.
#pragma once
#include <string>
#include <vector>

#include "results/table.hpp"

namespace odrpo {

/// Decimals at which the typical half-width keeps one digit; whole numbers get none.
int table_decimals(const TableModel& table);
/// The number of seeds that most cells report.
int table_seeds(const TableModel& table);
/// "74.1 ± 0.8", "74.1 ± n/a" (one seed), "n/a" (none); with the chosen axis value and an n that differs.
std::string cell_text(const TableCell& cell, const TableModel& table, int decimals, int seeds);
/// "+0.9 ± 0.3 *" (the interval excludes 0), "baseline", "n/a".
std::string difference_text(const TableCell& cell, const TableModel& table, int decimals);
/// "votes=8": a column's heading.
std::string column_text(const TableModel& table, std::size_t column);
/// "rater=mixed, policy=linear": the dimensions that tell this block from the others, or (`constant`) those that all blocks share.
std::string block_text(const TableModel& table, const TableBlock& block, bool constant);
/// What the numbers are: value, seeds, interval, baseline rule, choice of the best. One sentence each.
std::vector<std::string> table_sentences(const TableModel& table);

}  // namespace odrpo
