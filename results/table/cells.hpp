// The cells of a table from the runs behind them: choice of the best axis value, statistics, comparison, stars. Private to results/.
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

/// A value that a table shows, and where its numbers are.
struct Shown {
  std::string name;                              ///< the word, or the column's name; printable
  ValueWord word;                                ///< of any other column: factor 1, more is better
  std::string column;                            ///< of the file
  bool ranked = true;                            ///< it is known whether more is better
  const std::vector<double>* numbers = nullptr;  ///< one per run, once the column has been read
};
/// The value of a word of value_words, or any other numeric column of the file; what is spelt exactly goes before what differs in - and _
/// alone. Failure usage when there is none. Needs no column that has been read.
Shown shown_value(const ResultFile& head, const std::string& name);

/// What cells need to know of each run besides its values.
struct RunFacts {
  const std::vector<double>* seed;
  std::vector<bool> failed;
  const ResultFile* file;
  int seed_of(std::size_t run) const { return static_cast<int>((*seed)[run]); }
};
RunFacts run_facts(const ResultFile& file);

/// A cell without runs.
TableCell empty_cell();
/// What the runs of a choice say of one value.
void fill_cell(TableCell& cell, std::span<const std::uint32_t> runs, const RunFacts& facts, const TableSpec& spec, const Shown& value,
               const TableValue& kind);

/// n, centre, sd and interval of a cell's values. `whole`: what a share of 1 is shown as.
void summarise(TableCell& cell, double whole, const TableValue& kind);

/// Compares two cells over the seeds that both report: its difference and p, as if nothing had been chosen.
Comparison compare_cells(const TableCell& cell, const TableCell& baseline, double whole, const TableValue& kind);

/// By how much the row is better than the baseline over the seeds that both report; where it is not known whether more is better, by how much
/// it is more.
Lead lead_of(const SeedValues& row, const SeedValues& baseline, double whole, const TableValue& kind);
/// Over seeds, the correlation of row - baseline with row - other; 1 where it has none.
double correlation_of_leads(const SeedValues& row, const SeedValues& baseline, const SeedValues& other);

/// Each value in percent of the baseline's at its seed; without those that have none (paired_percent).
SeedValues in_percent_of(const SeedValues& values, const SeedValues& baseline);

/// A comparison of cells at choices made on the seeds that they report, or of another value at such choices: it has neither interval nor p.
Comparison not_tested(Comparison compared);

/// Compares every row with its baseline, each cell as it stands, and corrects the comparisons. Of a table with one value; `whole` as above.
void compare_rows(TableModel& table, double whole);

/// Holm's correction in a whole table. Family: every comparison of one value that has a p, over all blocks and columns; several values are
/// several families. Sets p_holm and `tested`.
void correct_comparisons(TableModel& table);

// Which value of the best axes (a learning rate, say) a cell reports. Private to results/.

/// What choosing needs to know: the best axes, the combinations of their values, and the seeds that choose (below spec.tune_seeds, or all).
struct ChoiceRule {
  std::span<const Dimension* const> axes;
  const Combinations& choices;
  const RunFacts& facts;
  const TableSpec& spec;
  const Shown& value;  ///< the first of the table's values
};

/// One combination of values of the best axes that runs of a cell tried.
struct Candidate {
  std::uint32_t choice;             ///< its index in ChoiceRule::choices
  std::vector<std::uint32_t> runs;  ///< all of them, tuning seeds included
  int lost;                         ///< seeds that choose without a value: a run that failed, whose value is NaN, or that is not there
  MeanInterval score;               ///< of the others on the seeds that choose, in the shown unit
};

/// The candidates of one cell, in file order.
struct Candidates {
  std::vector<Candidate> tried;
  std::size_t best = 0;                                  ///< fewest runs lost, then best mean, then first in the file
  struct Range {
    double least, largest;
    bool has_edges;  ///< more than two values, all of them numbers
  };
  std::vector<Range> ranges;  ///< of the values tried, one per axis

  /// Was there anything to choose by? Else the best is the first of the file.
  bool is_chosen() const { return tried[best].score.n > 0; }
  /// Might the arm have chosen this one: does it lose no more runs than the best?
  bool may_choose(std::size_t candidate) const { return tried[candidate].lost <= tried[best].lost; }
};
Candidates candidates_of(std::span<const std::uint32_t> runs, const ChoiceRule& rule);

/// The values of the best axes of one candidate.
std::vector<ChosenValue> chosen_values(const Candidates& of, std::size_t at, const ChoiceRule& rule);

/// Do the learning rates tried on both sides of the best one lie more than coarse_factor away, and lose more than `half_width` on the seeds
/// that choose? Then the best rate may lie between them. `axis`: its place in rule.axes; the other axes stay.
bool is_too_coarse(const Candidates& of, std::size_t axis, const ChoiceRule& rule, double half_width);

// The cells of a table's blocks from the runs of a file. Private to results/.

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
