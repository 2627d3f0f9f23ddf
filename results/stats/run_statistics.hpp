// Reads runs of a CSV file and computes statistics for publication: cells with intervals, paired differences, differences of differences.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/shared/words.hpp"
#include "results/stats/aggregate_metrics.hpp"
#include "results/stats/bootstrap.hpp"
#include "results/stats/statistics.hpp"

namespace odrpo {

// A CSV file with one row per run. Its columns give the cell, task and unit of the run, and its value.

/// Names of columns, as the header writes them.
struct RunColumns {
  std::string unit;               ///< what is independent, for instance the seed
  std::vector<std::string> cell;  ///< what is compared; a cell is a combination of their texts
  std::string value;
  std::vector<std::string> task;  ///< strata; none = one task
};

/// The runs that have a value. Texts are those of the file, without quotes.
struct RunTable {
  struct Run {
    std::uint32_t cell, task, unit;  ///< indices of the lists below
    double value;
    std::uint32_t line;
  };
  std::vector<std::vector<std::string>> cells;  ///< one text per column; in the file's order
  std::vector<std::string> tasks, units;        ///< ascending (numbers by size), so that the order of rows changes nothing; task columns
                                                ///< joined by ", "; one empty name where no column is a task
  std::vector<Run> runs;                        ///< by cell, task, unit
  /// Of a result file whose cells chose (a learning rate, say) on seeds of their own; else empty. other_choices[c][t] has the values of
  /// cell c in task t at each other choice that it might have made.
  using UnitValues = std::vector<std::pair<std::uint32_t, double>>;  ///< (unit, value)
  std::vector<std::vector<std::vector<UnitValues>>> other_choices{};
  bool flattered = false;      ///< cells chose on these runs, so that their differences are not tested
  bool more_is_better = true;  ///< of the value: a cell beats another by it
  std::size_t blank = 0, not_a_number = 0;      ///< rows left out because the value is blank; "nan" in any letter case, or "NA"
};

/// Reads the columns from CSV text. Failure usage, one line per mistake, for columns that the header lacks (with a suggestion). Failure
/// bad_input with one `file:line:column: error: …` for each of up to 20 mistakes. Those of the file: no CSV, a column that stands twice, a
/// wrong number of fields, a run given twice, no value at all. Those of a field: a value that is text or infinite; an empty unit, cell or
/// task.
RunTable parse_runs(std::string_view text, const std::string& file, const RunColumns& columns);

/// expanded: BCa at expanded_level, so that few units do not make it too narrow.
enum class IntervalKind { expanded, bca, percentile, student };
inline constexpr Word<IntervalKind> interval_words[] = {
    {IntervalKind::expanded, "expanded", "BCa at a level that few units need to cover what was asked"},
    {IntervalKind::bca, "bca", "bias-corrected and accelerated bootstrap"},
    {IntervalKind::percentile, "percentile", "percentiles of the resamples"},
    {IntervalKind::student, "t", "Student's t for means and differences, expanded for the others"},
};

/// Bootstrap intervals of fewer units than this are too narrow, and get a warning.
inline constexpr int few_units = 16;

/// A difference of differences: (row - baseline) where the cell's column has the text `with`, minus the same where it has `without`.
struct ContrastChoice {
  std::size_t column;
  std::string with, without;
};

struct StatisticsOptions {
  IntervalKind interval = IntervalKind::expanded;  ///< student: of means and differences; the other intervals are expanded BCa
  int resamples = 2000;
  std::uint64_t seed = 1;
  double level = 0.95;
  std::optional<double> gamma;     ///< of the optimality gap
  std::vector<double> thresholds;  ///< of the performance profile
  /// Empty = no baseline. Else one entry per column of a cell: the baseline's text, or nothing where it has the row's own.
  std::vector<std::optional<std::string>> baseline;
  std::optional<ContrastChoice> contrast;  ///< needs a baseline without a text in this column
};

/// A number with its interval; NaN where undefined.
struct Estimate {
  double value, lo, hi;
};

struct CellStatistics {
  std::vector<std::string> name;
  int units = 0, tasks = 0, runs = 0;  ///< with a value
  int fewest = 0;                      ///< runs of the task that has the fewest
  Estimate mean;                       ///< over tasks of the mean over runs
  Estimate sd;                         ///< within tasks, pooled; interval by chi-square (pooled_sd)
  Estimate median;                     ///< of the runs; of the tasks' means where the table has several tasks
  Estimate iqm, optimality_gap;
  std::vector<Estimate> profile, average_profile;  ///< of each threshold: run-score and average-score distribution
};

/// A paired difference, or a difference of differences.
struct Difference {
  std::size_t cell;             ///< the row; of a difference of differences the one `with`
  std::size_t baseline;         ///< its baseline
  int tasks = 0, left_out = 0;  ///< tasks that all of its cells share; units that one of its cells has and another lacks
  /// n pairs, mean, sd and t interval of the differences. Where cells chose (RunTable::other_choices), the interval of the test at Holm's
  /// alpha for star_level. It excludes 0 exactly where there is a star; a side of which nothing is known is infinite.
  MeanInterval student;
  Interval bootstrap;    ///< of the same mean, by resampling: of the kind that was asked for; NaN where cells chose
  Estimate improvement;  ///< P(row > baseline) + P(equal) / 2 of independent runs; not of a difference of differences
  double p, p_holm;      ///< paired t test, or chosen_p where cells chose; NaN where nothing was tested
};

struct RunStatistics {
  std::vector<CellStatistics> cells;
  std::vector<Difference> differences, contrasts;
  int family = 0;                  ///< tests that Holm's correction counts: all differences and differences of differences
  int unmatched = 0;               ///< rows whose baseline, or whose other condition, has no cell
  int too_many_choices = 0;        ///< not tested, because the cells might have chosen in more than most_combinations ways
  std::vector<std::string> notes;  ///< what was left out and why; printable
};

RunStatistics run_statistics(const RunTable& table, const StatisticsOptions& options);

/// Index of the cell of a row's baseline: the row's own if it is a baseline, nothing if no cell is.
std::optional<std::size_t> baseline_of(const RunTable& table, const StatisticsOptions& options, std::size_t cell);

// Runs of several cells, paired by unit: what a paired test or bootstrap works on.

/// The runs of some cells in the tasks that all of them share, by units that all of them have.
/// Crossed: units have runs in several tasks. One stratum, the units that have a run in every task, each with all its tasks.
/// Nested: no unit has runs in two tasks. Each task is a stratum of its own units.
struct PairedRuns {
  std::vector<TaskScores> scores;    ///< scores[c][t][i]: cell c, task t, unit i of the task's stratum
  std::vector<std::uint32_t> sizes;  ///< units of each stratum: one stratum, or one per task
  bool crossed = true;
  int left_out = 0;  ///< units that have a run in some of these cells and tasks, but not in all that are needed
};
PairedRuns pair_runs(const RunTable& table, std::span<const std::size_t> cells);

/// Of each stratum and unit: the mean over the unit's tasks of sum_c sign[c] scores[c]. A bootstrap of these resamples units, and a unit
/// serves all cells.
TaskScores paired_differences(const PairedRuns& runs, std::span<const double> signs);

/// Leads of cells that chose on seeds of their own, in the mean of paired_differences; first with the row kept, and in the direction of the
/// table's value. Cells with one sign keep their choices in all tasks. Cells with the other take every combination of theirs, one for each
/// cell and task. Pairs are units that have every run of a combination. Nothing where there are more than most_combinations.
inline constexpr int most_combinations = 100'000;
std::optional<ChosenComparison> compare_choices(const RunTable& table, std::span<const std::size_t> cells, std::span<const double> signs);

}  // namespace odrpo
