// The cells of a table from the runs behind them: choice of the best axis value, statistics, comparison. Private to results/.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/table/model.hpp"
#include "results/scores/csv.hpp"
#include "results/table/dimensions.hpp"
#include "results/table/value_words.hpp"

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

inline constexpr double star_level = 0.05;  ///< of a p of Holm's correction

/// Holm's correction in a whole table. Family: every comparison of one value that has a p, over all blocks and columns; several values are
/// several families. Sets p_holm and `tested`.
void correct_comparisons(TableModel& table);

}  // namespace odrpo
