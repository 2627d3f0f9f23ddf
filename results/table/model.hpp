// Defines the model of a table: the contents of its cells, blocks and sentences, before a renderer prints them.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "results/stats/statistics.hpp"
#include "results/table/table_spec.hpp"

namespace odrpo {

/// One of the values that a table shows, and what its cells contain.
struct TableValue {
  std::string name, unit, meaning;            ///< as in ValueWord; for a column without a word only the name is set
  bool median = false;                        ///< cells hold median and quartiles
  bool share = false;                         ///< cells hold shares of runs and Wilson's intervals
  bool percent = false;                       ///< comparisons are in percent of the baseline
  bool more_is_better = true, ranked = true;  ///< ranked: false if nobody knows whether more is better
};

/// Text of a value for headings, e.g. "grounding [%]".
std::string value_text(const TableValue& value);

/// The value that a cell chose on one of the axes in TableSpec::best.
struct ChosenValue {
  std::string axis, value;
  bool at_edge;  ///< it is the smallest or largest of more than two numbers tried
  bool too_coarse = false;  ///< a better learning rate may lie between those tried (is_too_coarse() in cells.hpp)
};

/// The comparison of a row with its baseline row, paired by seed.
struct Comparison {
  MeanInterval difference;                       ///< row - baseline in the value's unit, or in percent; n = 0 if there is none
  int no_percent = 0;                            ///< number of pairs without a percentage, since the baseline is not above 0
  double p, p_holm;                              ///< two-sided p of this difference alone, and corrected; NaN if not tested
  ChosenComparison among_choices{};              ///< the leads that p tests, if settings were chosen on other seeds; else empty
};

/// (seed, value in the shown unit), ascending by seed.
using SeedValues = std::vector<std::pair<int, double>>;

struct TableCell {
  std::string row, column;
  std::size_t of = 0;                    ///< index of its value in TableModel::values
  int n = 0, failed = 0, undefined = 0;  ///< seeds reported; runs left out: failed, value NaN
  double centre, sd, lo, hi;             ///< mean and t interval; for a share Wilson's; for a measured time median and quartiles (sd NaN)
  Comparison comparison;
  bool among_best =
      false;  ///< the best of its column in its block, or a one-sided test cannot tell it from the best (docs/tables.md)
  std::vector<std::string> followed;           ///< its value of each of TableModel::following; empty if the cell has no runs
  std::vector<ChosenValue> chosen;             ///< for each axis in TableSpec::best: the value whose runs the cell shows
  int tried = 0;                               ///< number of settings among which the cell chose
  SeedValues values;
  std::vector<SeedValues> other_choices;  ///< at each other setting that the cell might have chosen on other seeds
  std::vector<std::uint32_t> runs;             ///< the run of each value, as row of the file's root table
};

/// A dimension that makes no blocks, since rows, columns and the axes in TableSpec::best determine its value in each cell.
struct FollowingDimension {
  std::string name;
  std::vector<std::string> others;  ///< the dimensions that determine it
  std::string text;                 ///< e.g. "steps follows votes: 8: 300, 1: 2400"; shortened if long
};

/// One block of a table: its cells agree in every dimension but rows, columns, TableSpec::best and TableModel::following.
struct TableBlock {
  std::vector<std::pair<std::string, std::string>> fixed;
  std::vector<TableCell> cells;  ///< rows x columns cells, row by row
};

/// The model of a table. Every text in it is printable (printable_text); a renderer adds only the escapes of its own format.
struct TableModel {
  TableSpec spec;                          ///< with the full axis names of the file
  std::string suite, digest;               ///< the suite's name, and the first 12 digits of the file's digest
  std::vector<TableValue> values;          ///< in the order of spec.value
  std::vector<int> tested;                 ///< for each value, the size of its family: comparisons with a p, over all blocks and columns
  std::vector<std::string> rows, columns;  ///< entries of the two dimensions; for the dimension `value`, names of the values
  std::vector<std::string> split;          ///< dimensions with several values, whose combinations are the blocks
  std::vector<FollowingDimension> following;
  std::vector<TableBlock> blocks;
  std::vector<std::string> notes;                             ///< about failed runs, undefined values, and how `best` was chosen
  std::vector<std::pair<std::string, std::string>> formulas;  ///< (estimator, formula): how each estimator computes
  std::vector<std::pair<std::string, std::string>> raters;    ///< (rater, what it does)
  std::vector<std::pair<std::string, std::string>> settings;  ///< learning settings that are not the usual ones and apply to all numbers
};

/// True if a comparison gets a star: its p, corrected as the spec says, is below .05.
bool is_significant(const Comparison& comparison, const TableSpec& spec);

/// Number of reported seeds with which a test finds a true difference of spec.power_difference with probability .8, given the estimated
/// standard deviation of the differences. `alone`: for a two-sided t test at .05. `lo`, `hi`: its 95 % interval. `among_all`: for a test at
/// .05 / m among m tests, Holm's strictest step. If cells chose settings, the test is chosen_p(). Other settings of the baseline then count
/// as equally good, since few tuning seeds cannot rank them. But those worse by more than two standard deviations of a pair keep their
/// distance. 0 = more than a million, or unknown.
struct SeedsNeeded {
  int alone, lo, hi, among_all;
};
SeedsNeeded seeds_needed(const Comparison& comparison, const TableModel& table, std::size_t value);

}  // namespace odrpo
