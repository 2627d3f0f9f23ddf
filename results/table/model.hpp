// Defines the model of a table: what its cells, blocks and sentences hold before any renderer prints them.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "results/stats/statistics.hpp"
#include "results/table/table_spec.hpp"

namespace odrpo {

/// One of the values that a table shows, with what its cells hold.
struct TableValue {
  std::string name, unit, meaning;            ///< as in ValueWord; of any other column the name alone
  bool median = false;                        ///< cells hold median and quartiles
  bool share = false;                         ///< cells hold shares of runs and Wilson's intervals
  bool percent = false;                       ///< rows are compared with the baseline in percent of it
  bool more_is_better = true, ranked = true;  ///< ranked: it is known whether more is better
};

/// "grounding [%]".
std::string value_text(const TableValue& value);

/// The value of one of the axes in `best`.
struct ChosenValue {
  std::string axis, value;
  bool at_edge;  ///< the smallest or the largest of more than two numbers tried
  bool too_coarse = false;  ///< of a learning rate: a finer grid may find a better one (is_too_coarse)
};

/// A row against the baseline row, paired by seed.
struct Comparison {
  MeanInterval difference;                       ///< or percent of the baseline; n = 0 when there is none
  int no_percent = 0;                            ///< pairs that have no percentage: the baseline is not above 0
  double p, p_holm;                              ///< two-sided, of this difference alone and corrected; NaN when it was not tested
  ChosenComparison among_choices{};              ///< the leads that p tests where `best` chose on seeds of its own; else empty
};

/// (seed, value in the shown unit), by seed.
using SeedValues = std::vector<std::pair<int, double>>;

struct TableCell {
  std::string row, column;
  std::size_t of = 0;                    ///< which of the table's values
  int n = 0, failed = 0, undefined = 0;  ///< seeds reported; runs left out because they failed, or their value is NaN
  double centre, sd, lo, hi;             ///< mean and t interval; for a share Wilson's; for a measured time median and quartiles (sd NaN)
  Comparison comparison;
  bool among_best =
      false;  ///< the best of its column in its block, or not told from it by a one-sided test (docs/tables.md)
  std::vector<std::string> followed;           ///< value of each of the table's following dimensions; empty in a cell without runs
  std::vector<ChosenValue> chosen;             ///< of each axis in `best`, where the cell's numbers are taken
  int tried = 0;                               ///< how many choices it had
  SeedValues values;
  std::vector<SeedValues> other_choices;  ///< where `best` chose on seeds of its own: the values at each other choice that lost no more runs
  std::vector<std::uint32_t> runs;             ///< of each value, its run: row of the file's root table
};

/// A dimension that splits nothing: rows, columns and `best` decide its value. Each cell has its own.
struct FollowingDimension {
  std::string name;
  std::vector<std::string> others;  ///< the dimensions that decide
  std::string text;                 ///< "steps follows votes: 8: 300, 1: 2400", shortened when long
};

/// One table: the dimensions that are neither rows, columns nor best, and follow none of them, have one value each.
struct TableBlock {
  std::vector<std::pair<std::string, std::string>> fixed;
  std::vector<TableCell> cells;  ///< row by row, as long as rows x columns
};

/// Every text in it is printable (printable_text): a renderer adds only what its own format needs.
struct TableModel {
  TableSpec spec;                          ///< with the file's own names of axes
  std::string suite, digest;               ///< the file's, 12 digits of the latter
  std::vector<TableValue> values;          ///< in the order of spec.value
  std::vector<int> tested;                 ///< of each value, the size of its family: comparisons with a p, in all blocks and columns
  std::vector<std::string> rows, columns;  ///< entries of the dimensions; of the dimension `value` the names of the values
  std::vector<std::string> split;          ///< dimensions with several values that make blocks
  std::vector<FollowingDimension> following;
  std::vector<TableBlock> blocks;
  std::vector<std::string> notes;                             ///< failed and undefined values, how `best` was chosen
  std::vector<std::pair<std::string, std::string>> formulas;  ///< estimator, formula: the conventions behind the numbers
  std::vector<std::pair<std::string, std::string>> raters;    ///< rater, what it does
  std::vector<std::pair<std::string, std::string>> settings;  ///< rules of learning that are not the usual ones, the same for all numbers
};

/// Does a comparison get a star: is its p, corrected as the table's spec says, below .05?
bool is_significant(const Comparison& comparison, const TableSpec& spec);

/// How many reported seeds find a true difference of spec.power_difference with probability .8, given the standard deviation of the differences.
/// `alone`: by a two-sided t test at .05; `lo`, `hi`: its 95 % interval, from the deviation's. `among_all`: at .05 / m for m tests, Holm's strictest
/// step. Of rows that chose: by the star's test. Other choices of the baseline count as equally good, which a few tuning seeds do not show. Those
/// more than two standard deviations of a pair below keep their distance. Returns 0 for more than a million, or not known.
struct SeedsNeeded {
  int alone, lo, hi, among_all;
};
SeedsNeeded seeds_needed(const Comparison& comparison, const TableModel& table, std::size_t value);

}  // namespace odrpo
