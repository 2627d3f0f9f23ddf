// Computes the cells of a table from their runs: choice of the best axis value, statistics, comparison with the baseline, stars. Private to
// results/.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "results/scores/csv.hpp"
#include "results/stats/statistics.hpp"
#include "results/table/dimensions.hpp"
#include "results/table/model.hpp"
#include "results/table/table_spec.hpp"

namespace odrpo {

/// A value that a table shows, with its numbers in the result file.
struct Shown {
  std::string name;                              ///< the word of value_words, or the column's name; printable
  ValueWord word;                                ///< for a column without a word: factor 1, more is better
  std::string column;                            ///< name of its column in the file
  bool ranked = true;                            ///< false if it is unknown whether more is better, as for a column without a word
  const std::vector<double>* numbers = nullptr;  ///< one number per run; set once the column has been read
};
/// Finds a value by its word in value_words, or by the name of a numeric column. An exact match comes before one that differs only in - and
/// _. Failure `usage` if there is none. Needs only the head of the file.
Shown shown_value(const ResultFile& head, const std::string& name);

/// What the cells need to know about each run, besides its values.
struct RunFacts {
  const std::vector<double>* seed;
  std::vector<bool> failed;
  const ResultFile* file;
  int seed_of(std::size_t run) const { return static_cast<int>((*seed)[run]); }
};
RunFacts run_facts(const ResultFile& file);

/// Returns a cell without runs, whose numbers are NaN.
TableCell empty_cell();
/// Fills a cell from the runs of one choice: their values, counts of failed and undefined runs, and statistics.
void fill_cell(TableCell& cell, std::span<const std::uint32_t> runs, const RunFacts& facts, const TableSpec& spec, const Shown& value,
               const TableValue& kind);

/// Sets n, centre, sd and interval of a cell from its values. `whole`: the number that a share of 1 is shown as.
void summarise(TableCell& cell, double whole, const TableValue& kind);

/// Compares two cells over the seeds that both report: difference, its interval and p. Does not correct for settings that a cell chose (best).
Comparison compare_cells(const TableCell& cell, const TableCell& baseline, double whole, const TableValue& kind);

/// Returns the lead (statistics.hpp) of the row over the baseline, from the seeds that both report: by how much it is better. If it is
/// unknown whether more is better: by how much it is larger.
Lead lead_of(const SeedValues& row, const SeedValues& baseline, double whole, const TableValue& kind);
/// Correlation over seeds of (row - baseline) with (row - other); 1 if a difference does not vary.
double correlation_of_leads(const SeedValues& row, const SeedValues& baseline, const SeedValues& other);

/// Each value in percent of the baseline's value of the same seed; leaves out seeds without a percentage (paired_percent).
SeedValues in_percent_of(const SeedValues& values, const SeedValues& baseline);

/// Removes interval and p from a comparison of cells that were chosen on the reported seeds, or for another value: the choice would bias a
/// test.
Comparison not_tested(Comparison compared);

/// Compares every row with its baseline, and corrects the comparisons. For a table with one value. `whole` as in summarise().
void compare_rows(TableModel& table, double whole);

/// Applies Holm's correction to a whole table; sets p_holm and `tested`. A family is every comparison of one value that has a p, over all
/// blocks and columns. Several values are several families.
void correct_comparisons(TableModel& table);

// Chooses which value of the best axes (a learning rate, say) a cell reports. Private to results/.

/// How cells choose among the values of the axes in TableSpec::best: those axes, the combinations of their values (the choices), and the
/// seeds that decide (those below spec.tune_seeds; if that is 0, all).
struct ChoiceRule {
  std::span<const Dimension* const> axes;
  const Combinations& choices;
  const RunFacts& facts;
  const TableSpec& spec;
  const Shown& value;  ///< the first value of the table, by which the choice is made
};

/// A setting that a cell may choose: a combination of values of the axes in TableSpec::best that some of its runs have.
struct Candidate {
  std::uint32_t choice;             ///< index of the combination in ChoiceRule::choices
  std::vector<std::uint32_t> runs;  ///< all runs of the cell with this combination, tuning seeds included
  int lost;                         ///< seeds of the choice whose run failed or is NaN (with tune_seeds: or is missing)
  MeanInterval score;               ///< mean over the other seeds used for the choice, in the shown unit
};

/// All candidates of one cell, in file order.
struct Candidates {
  std::vector<Candidate> tried;
  std::size_t best = 0;                                  ///< index of the best: fewest lost, then best mean, then first in the file
  struct Range {
    double least, largest;
    bool has_edges;  ///< more than two different values, all of them numbers
  };
  std::vector<Range> ranges;  ///< smallest and largest value tried, for each best axis

  /// True if some candidate has a value at a seed of the choice. Otherwise `best` is just the first in the file.
  bool is_chosen() const { return tried[best].score.n > 0; }
  /// True if the cell might have chosen this candidate: it loses no more runs than the best one.
  bool may_choose(std::size_t candidate) const { return tried[candidate].lost <= tried[best].lost; }
};
Candidates candidates_of(std::span<const std::uint32_t> runs, const ChoiceRule& rule);

/// Returns candidate `at`'s value on each of the axes in TableSpec::best, and whether it is the smallest or largest value tried.
std::vector<ChosenValue> chosen_values(const Candidates& of, std::size_t at, const ChoiceRule& rule);

/// True if the best learning rate may lie between the rates tried. The next rates on both sides must be more than coarse_factor away. They
/// must lose more runs, or differ by more than `half_width` at the seeds of the choice. `axis`: index in rule.axes.
bool is_too_coarse(const Candidates& of, std::size_t axis, const ChoiceRule& rule, double half_width);

// Builds the cells of a table's blocks from the runs of a file. Private to results/.

/// The data from which the cells of a table are computed.
struct TableSource {
  std::vector<Dimension> dimensions;
  RunFacts facts;
  std::vector<Shown> shown;              ///< the shown values, in the order of spec.value
  std::vector<const Dimension*> others;  ///< dimensions whose combinations of values are the blocks
  std::vector<const Dimension*> best, following;
  Combinations blocks, choices;

  ChoiceRule rule(const TableSpec& spec) const { return {best, choices, facts, spec, shown[0]}; }

  /// Finds the dimension of this name. Returns nullptr for `value`, since in a table over values no axis has that name.
  const Dimension* dimension(const std::string& name) const {
    const auto found = std::find_if(dimensions.begin(), dimensions.end(), [&](const Dimension& d) { return d.name == name; });
    return found == dimensions.end() ? nullptr : &*found;
  }
};

/// The runs of each cell of the table, by block, row and column. If rows (or columns) are values, they all share the same runs.
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

/// Computes the cells of one block, row by row, with comparisons but without their p_holm. `table` already has its spec, values, rows and columns.
std::vector<TableCell> block_cells(const TableModel& table, const TableSource& from, const RunPools& pools, std::size_t block);

}  // namespace odrpo
