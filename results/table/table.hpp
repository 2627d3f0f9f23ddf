// Makes tables of a result file: values by two dimensions, intervals over seeds, differences from a baseline row. Also makes tables of
// curves.
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

/// A condition on runs: the value of `axis` is one of `allowed`.
struct ChosenRuns {
  std::string axis;                  ///< a dimension of tables: env, rater, policy, estimator, votes, or an axis of the grid
  std::vector<std::string> allowed;  ///< the allowed values
};
/// Returns the runs of a file that satisfy all conditions, as a ResultFile of their own. Failure `usage` if the file lacks an axis or a
/// value, or if no run is left.
ResultFile chosen_runs(const ResultFile& file, const std::vector<ChosenRuns>& where);

/// The dimension whose values are the names of joined files.
inline constexpr const char* file_dimension = "file";
/// Joins the runs of files to one, with the dimension `file`, whose values are `names`. Run i of the result is row i. A run of a file that
/// lacks a column of another has NaN there, or no text. Of provenance only table (the first file's), formulas and raters are kept. Failure
/// `usage` if a file has the axis `file`, or if a column has numbers in one file and texts in another.
ResultFile joined_files(std::span<const ResultFile> files, std::span<const std::string> names);

/// Names of the columns that make_table needs for the spec's values. `head` need not have read any column. Failure `usage` if the file lacks
/// a value.
std::vector<std::string> table_columns(const ResultFile& head, const TableSpec& spec);

/// Makes the table of a suite's own spec. If the file lacks the baseline (trained with --only), leaves out the differences and adds a note.
TableModel make_suite_table(const ResultFile& file, const TableSpec& spec);

/// Makes a table. `file` must have read table_columns(). Failure `usage` if the spec names a dimension, value or baseline that the file
/// lacks.
TableModel make_table(const ResultFile& file, const TableSpec& spec);

/// The same table with another value of the same runs, so with the best settings that were chosen for the first value. `file` is the whole
/// file, and has read the column of the value. Failure `usage` if the file has no such value.
TableModel with_value(const TableModel& table, const ResultFile& file, const std::string& value);

/// How many explanatory sentences a printed table has below it.
enum class Legend { none, brief, full };
inline constexpr Word<Legend> legend_words[] = {
    {Legend::none, "none", "nothing"},
    {Legend::brief, "short", "what the numbers, intervals and stars are, and whose conventions hold"},
    {Legend::full, "full", "also the meaning of each value, the choice of the best, raters and formulas"},
};

/// Plain text in `width` characters: as many columns side by side as fit, the others below. A column that is wider alone is not broken.
std::string table_text(const TableModel& table, Legend legend = Legend::full, std::size_t width = 100);
std::string table_markdown(const TableModel& table, Legend legend = Legend::full);
/// A LaTeX table with booktabs' rules. Bold: the best of each column, and cells that a test cannot tell from it. The legend is the caption;
/// all sentences, formulas and the digest are comments. With `siunitx` numbers are \num{…}. Every name is escaped.
std::string table_latex(const TableModel& table, Legend legend = Legend::brief, bool siunitx = false);
/// CSV (RFC 4180): one line per cell with all of its numbers, its formula and its rater.
std::string table_csv(const TableModel& table);

// The table of a curve, whose columns are the recorded steps.

/// How to show a curve: value_i = factor_i (curve_i - origin_i) for run i.
struct CurveValue {
  std::string name, unit, meaning;
  std::vector<double> origin, factor;  ///< one per run of the file; empty = origin 0, factor 1
};

/// Returns the runs of the first value's cells, as ascending rows of the file's root table. curve_table() needs their curves.
std::vector<std::uint32_t> runs_behind(const TableModel& table);

/// Shows a curve of the runs in the cells of `table`. Rows stay; each column becomes a block. The new columns are steps that any run
/// recorded, at most `most_steps`, always with the first and the last. A cell keeps the runs of the table's first value, and so its chosen
/// best setting. Failure `usage` if no run has a number.
TableModel curve_table(const TableModel& table, const CurveValue& value, std::span<const RunCurve> curves, std::size_t most_steps);

// Converts the runs of a table's cells to a RunTable, the input of run_statistics.

/// Returns the dimensions in which the cells of a table differ: rows, columns, and those whose values make blocks.
std::vector<std::string> cell_dimensions(const TableModel& table);

/// Converts the runs of the table's first value, in the shown unit, at the setting that each cell chose. In the result, a cell is a
/// combination of values of the dimensions `cell`, a task a combination of values of `task`; together they are cell_dimensions(). The unit
/// is the seed. Failed runs and undefined values are left out.
RunTable table_runs(const TableModel& table, const std::vector<std::string>& cell, const std::vector<std::string>& task);

}  // namespace odrpo
