// Makes tables of a result file: values by two dimensions, intervals over seeds, rows compared with a baseline row; tables of curves.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/shared/words.hpp"
#include "results/stats/run_statistics.hpp"
#include "results/store/record.hpp"
#include "results/store/store.hpp"
#include "results/table/model.hpp"

namespace odrpo {

/// Values of a dimension.
struct ChosenRuns {
  std::string axis;                  ///< a dimension of tables: env, rater, policy, estimator, votes, an axis of the file
  std::vector<std::string> allowed;  ///< a run has one of these
};
/// The runs of a file that have an allowed value of every axis, as a file of their own. Failure usage for an axis or a value that the file
/// has not, or when no run is left.
ResultFile chosen_runs(const ResultFile& file, const std::vector<ChosenRuns>& where);

/// The columns of the file that hold the values of a table, to be read for make_table. `head` need not have read any. Failure usage when
/// the file lacks such a value.
std::vector<std::string> table_columns(const ResultFile& head, const TableSpec& spec);

/// The table of a suite's own spec. Where --only left the baseline out of the file, a table without these differences, and a note.
TableModel make_suite_table(const ResultFile& file, const TableSpec& spec);

/// Builds the table. `file` has read table_columns(). Failure usage when the spec names a dimension, value or baseline that the file does
/// not have.
TableModel make_table(const ResultFile& file, const TableSpec& spec);

/// The cells of a table with another value of the same runs, so at the same choice of the best; compared as before. `file` is the whole
/// file, and has read the value's column. Failure usage when it has no such value.
TableModel with_value(const TableModel& table, const ResultFile& file, const std::string& value);

/// How much a printed table says about its numbers, below them.
enum class Legend { none, brief, full };
inline constexpr Word<Legend> legend_words[] = {
    {Legend::none, "none", "nothing"},
    {Legend::brief, "short", "what the numbers, intervals and stars are"},
    {Legend::full, "full", "also the meaning of each value, the choice of the best, raters and formulas"},
};

/// Plain text in `width` columns: as many columns side by side as fit, the others below. A row that is wider alone stays whole.
std::string table_text(const TableModel& table, Legend legend = Legend::full, std::size_t width = 100);
std::string table_markdown(const TableModel& table, Legend legend = Legend::full);
/// A LaTeX table of booktabs' rules. Bold: the best of each column, and what is not told from it. The legend is its caption and, with
/// formulas and digest, comments. With `siunitx` numbers are \num{…}. Every name is escaped.
std::string table_latex(const TableModel& table, Legend legend = Legend::brief, bool siunitx = false);
/// One line per cell with all numbers, and the formula and the rater behind them (RFC 4180).
std::string table_csv(const TableModel& table);

// The table of a curve: its columns are the recorded steps.

/// What a curve shows: value_i = factor (curve_i - origin_i) of run i. Each run of the file has its origin and factor.
struct CurveValue {
  std::string name, unit, meaning;
  std::vector<double> origin, factor;  ///< one per run of the file; empty = 0 and 1
};

/// The runs behind the cells of a table, ascending: those whose curves curve_table wants.
std::vector<std::uint32_t> runs_behind(const TableModel& table);

/// The cells of `table` as curves. Rows stay, each column becomes a block. The columns are the steps that any run recorded, at most
/// `most_steps` of them, with the first and the last. Each cell has the runs of the table's first value, and so its chosen best (learning
/// rate); comparisons are between those. Failure usage when no run has a number.
TableModel curve_table(const TableModel& table, const CurveValue& value, std::span<const RunCurve> curves, std::size_t most_steps);

// The runs behind the cells of a table as what run_statistics takes.

/// The dimensions that tell the cells of a table apart: rows, columns, and those that make blocks.
std::vector<std::string> cell_dimensions(const TableModel& table);

/// The runs of the table's first value, in the shown unit, at each cell's chosen best. A cell is a combination of the values of `cell`, a
/// task one of the values of `task`. Both lists together are cell_dimensions(). Unit = seed. Failed runs and undefined values are left out.
RunTable table_runs(const TableModel& table, const std::vector<std::string>& cell, const std::vector<std::string>& task);

}  // namespace odrpo
