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
#include "results/scores/reading.hpp"
#include "results/stats/aggregate_metrics.hpp"
#include "results/stats/bootstrap.hpp"
#include "results/stats/statistics.hpp"

namespace odrpo {

// A file with one row per run, CSV or JSON. Its columns, or keys, give the cell, task and unit of the run, and its value.

/// Names of columns, as the header writes them.
struct RunColumns {
  std::string unit;               ///< what is independent, for instance the seed
  std::vector<std::string> cell;  ///< what is compared; a cell is a combination of their texts
  std::string value;
  std::vector<std::string> task;  ///< columns that name the task; none = all runs are of one task
  ScoreReading reading{};         ///< its `missing`, `map`, `ids` and `separator`; how numbers as names of units, cells and tasks are read
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
  /// Filled if the cells chose a setting (say a learning rate) on seeds that are not among these runs. other_choices[c][t] has the values
  /// of cell c in task t at each other setting that it might have chosen.
  using UnitValues = std::vector<std::pair<std::uint32_t, double>>;  ///< (unit, value)
  std::vector<std::vector<std::vector<UnitValues>>> other_choices{};
  bool flattered = false;      ///< cells chose their settings on these runs, so their differences are not tested
  bool more_is_better = true;  ///< true if a larger value is better
  std::size_t blank = 0, not_a_number = 0;      ///< rows left out: value blank; NaN, NA, null, None or `missing`
  std::vector<std::string> notes{};   ///< about skipped lines, separators and decimal commas of the file
};

/// Reads the columns from CSV text with a header, or the keys from JSON objects, a line each or of a list (is_json). Values are read as scores are (ScoreTexts): N/M
/// is N where all have one M and none is larger. Failure `usage`, one line per mistake, for columns that the header lacks (with a suggestion). Failure
/// `bad_input` with one `file:line:column: error: …` for each of up to 20 mistakes. Those of the file: no CSV, a column that stands twice, a
/// wrong number of fields, a run given twice, no value at all. Those of a field: a value that is text or infinite; an empty unit, cell or
/// task.
RunTable parse_runs(std::string_view text, const std::string& file, const RunColumns& columns);

/// The kinds of intervals. `expanded`: BCa at expanded_level() (statistics.hpp), so that few units do not make it too narrow.
enum class IntervalKind { expanded, bca, percentile, student };
inline constexpr Word<IntervalKind> interval_words[] = {
    {IntervalKind::expanded, "expanded", "BCa at a level that few units need to cover what was asked"},
    {IntervalKind::bca, "bca", "bias-corrected and accelerated bootstrap"},
    {IntervalKind::percentile, "percentile", "percentiles of the resamples"},
    {IntervalKind::student, "t", "Student's t for means and differences, expanded for the others"},
};

/// Bootstrap intervals of fewer units than this are too narrow, and get a warning.
inline constexpr int few_units = 16;

/// A difference of differences: (row - baseline) of cells with the text `with` in this column, minus that of cells with `without`.
struct ContrastChoice {
  std::size_t column;
  std::string with, without;
};

struct StatisticsOptions {
  IntervalKind interval = IntervalKind::expanded;  ///< with `student`, only means and differences have t intervals
  int resamples = 2000;
  std::uint64_t seed = 1;
  double level = 0.95;
  std::optional<double> gamma;     ///< the score that counts as good enough in optimality_gap()
  std::vector<double> thresholds;  ///< scores at which the performance profile is computed
  /// Empty = no baseline. Otherwise, for each column of a cell, the text of its baseline there; nothing = the cell's own text.
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
  Estimate mean;                       ///< mean over tasks of the mean over runs
  Estimate sd;                         ///< pooled_sd() within tasks, with a chi-square interval
  Estimate median;                     ///< median of the runs; if the table has several tasks, of the tasks' means
  Estimate iqm, optimality_gap;
  std::vector<Estimate> profile, average_profile;  ///< run_score_distribution(), average_score_distribution() at each threshold
};

/// A paired difference, or a difference of differences.
struct Difference {
  std::size_t cell;             ///< index of the cell that is compared (with the text ContrastChoice::with)
  std::size_t baseline;         ///< index of the baseline's cell
  int tasks = 0, left_out = 0;  ///< tasks in all of its cells; units that only some of its cells have
  /// Number of pairs, mean, sd and t interval of the differences. If cells chose settings (RunTable::other_choices), it is the interval of
  /// their test, at Holm's alpha for star_level. It then excludes 0 exactly if there is a star. An end without any information is infinite.
  MeanInterval student;
  Interval bootstrap;    ///< interval of the same mean by resampling; NaN if cells chose settings
  Estimate improvement;  ///< P(row > baseline) + P(equal) / 2; NaN for a difference of differences
  double p, p_holm;      ///< of the paired t test, or chosen_p() if cells chose settings; NaN if not tested
};

struct RunStatistics {
  std::vector<CellStatistics> cells;
  std::vector<Difference> differences, contrasts;
  int family = 0;                  ///< number of tests that Holm's correction counts: differences and contrasts
  int unmatched = 0;               ///< rows not compared, since a cell that the comparison needs does not exist
  int too_many_choices = 0;        ///< differences not tested: their cells had over most_combinations ways to choose
  std::vector<std::string> notes;  ///< what was left out and why; printable
};

RunStatistics run_statistics(const RunTable& table, const StatisticsOptions& options);

/// Returns the index of the baseline of cell `cell`: its own index if it is a baseline, nothing if the table lacks that cell.
std::optional<std::size_t> baseline_of(const RunTable& table, const StatisticsOptions& options, std::size_t cell);

// Runs of several cells, paired by unit: what a paired test or bootstrap works on.

/// The runs of some cells, in the tasks and of the units (usually seeds) that all of these cells have. Crossed: some unit has runs in
/// several tasks. All units are one stratum, and each has a run in every task. Nested: no unit has runs in two tasks. Each task is then a
/// stratum of its own units.
struct PairedRuns {
  std::vector<TaskScores> scores;    ///< scores[c][t][i]: cell c, task t, unit i of the task's stratum
  std::vector<std::uint32_t> sizes;  ///< number of units in each stratum: one stratum, or one per task
  bool crossed = true;
  int left_out = 0;  ///< units that have a run in some of these cells and tasks, but not in all that are needed
};
PairedRuns pair_runs(const RunTable& table, std::span<const std::size_t> cells);

/// For each stratum and unit, returns the mean over the unit's tasks of sum_c signs[c] scores[c], with c the cell. A bootstrap of these
/// numbers draws units, so a drawn unit brings its runs in all cells.
TaskScores paired_differences(const PairedRuns& runs, std::span<const double> signs);

/// Compares cells that chose settings on other seeds, by leads (Lead in statistics.hpp) in the mean of paired_differences(). In row_leads the cells
/// with sign + keep their settings, while the others run through every combination of theirs, one for each cell and task. In baseline_leads it is the
/// other way round. Pairs are units that have every run of a combination. Nothing if there are more than most_combinations.
inline constexpr int most_combinations = 100'000;
std::optional<ChosenComparison> compare_choices(const RunTable& table, std::span<const std::size_t> cells, std::span<const double> signs);

}  // namespace odrpo
