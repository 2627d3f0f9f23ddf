// The cells of a table from the runs behind them: choice of the best axis value, statistics, comparison. Private to results/.
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/table.hpp"

namespace odrpo {

/// A value that a table shows, with its numbers: one per run of the file.
struct Shown {
  std::string name;  ///< the word, or the column's name
  ValueWord word;    ///< of any other column: factor 1, more is better
  const std::vector<double>* numbers;
};
/// The value of a word of value_words, or any other numeric column of the file; what is spelt exactly goes before what differs in - and _
/// alone. Failure usage when there is none.
Shown shown_value(const ResultFile& file, const std::string& name);

/// The number that a whole text is, or nothing.
std::optional<double> number_of(const std::string& text);

using Choice = std::vector<std::string>;  ///< values of the best axes
/// The runs of one row and column: those of every choice of the best axes, as indices into the file's runs.
struct Pool {
  std::vector<Choice> order;  ///< choices in file order
  std::map<Choice, std::vector<std::size_t>> runs;
};

/// The choice with the best mean of `value` on the seeds that choose; one that lost fewer runs goes first. The pool is not empty.
const Choice& best_choice(const Pool& pool, const ResultFile& file, const TableSpec& spec, const Shown& value);

/// Is the value that `best` takes of its axis number `axis` the least or the largest of more than two tried in the pool? Not of words.
bool at_edge(const Pool& pool, const Choice& best, std::size_t axis);

/// A cell without runs.
TableCell empty_cell();
/// What the runs of a choice say of one value.
void fill_cell(TableCell& cell, const std::vector<std::size_t>& runs, const ResultFile& file, const TableSpec& spec, const Shown& value,
               const TableValue& kind);

/// Compares a cell with the baseline's over the seeds that both report.
void compare_cell(TableCell& cell, const TableCell& baseline, const Shown& value, const TableValue& kind);

}  // namespace odrpo
