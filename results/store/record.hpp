// Defines RunRecord, what one run leaves behind, and the root table of many runs. Neutral strings and numbers: this module knows nothing of
// suites.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace odrpo {

// Axis: what a run has on one of the extra axes of its grid.

using AxisValue = std::variant<std::int64_t, double, std::string>;
/// One extra grid axis of a run, e.g. {"learn.lr", 0.03}; becomes a column of the root table.
using Axis = std::pair<std::string, AxisValue>;

enum class RunStatus { ok, failed };

/// Stages whose seconds are recorded, in the order of train_step.
inline constexpr const char* stage_names[] = {"prompts", "policy", "rater", "estimator", "update", "record"};
enum Stage { stage_prompts, stage_policy, stage_rater, stage_estimator, stage_update, stage_record };
inline constexpr int stage_count = stage_record + 1;
static_assert(sizeof stage_names / sizeof stage_names[0] == stage_count);

/// Named values: of a recorded curve one per recorded step, of an evaluation one per prompt. NaN = undefined there.
struct Curve {
  std::string name;
  std::vector<double> values;
};
/// One value of the root table, float64.
struct Final {
  std::string name;
  double value = 0;
};

/// The final value that holds a measured time: no result, so neither the digest nor `diff` looks at it.
inline constexpr const char* modelled_seconds = "modelled_seconds";

/// Names of evaluations per prompt, from which win rates between runs are made: true quality in levels, and words before the end.
inline constexpr const char *evaluated_quality = "quality", *evaluated_length = "length";

/// The record of one run. Names of curves and finals are lower_case words; units in docs/reference/curves.md and docs/results.md.
struct RunRecord {
  std::string id, key, env, rater, policy, estimator;
  int votes = 1;
  int seed = 0;  ///< seed index
  std::vector<Axis> axes;
  RunStatus status = RunStatus::ok;
  std::string error;               ///< why the run failed; empty when ok
  std::vector<Final> finals;       ///< columns of the root table: final_quality, auc_quality, regret, judge_calls, …
  std::vector<std::int32_t> step;  ///< recorded steps: the number of updates done before the values were taken
  std::vector<Curve> curves;
  std::vector<Curve> evaluated;  ///< per evaluated prompt: value i is of prompt i, all of one length; empty where the world has none
  std::vector<float> seconds;    ///< [step][stage_count] seconds per training step, mean since the record before
  double step_time_median = 0;   ///< seconds per training step, all stages without `record`
};

// CheckpointKind: what a checkpoint is of.

/// What a checkpoint holds, so that a later call need not do it again. `run`: the state of a run, named by its id. `start`: what several
/// runs start from, named by whatever decides it.
enum class CheckpointKind { run, start };

// The root table of a result file in memory: one entry per run in every column. Texts are codes, so that a million runs fit in little
// memory.

/// A column as the file declares it.
struct ColumnInfo {
  std::string name;
  std::string axis;      ///< the grid axis that it holds ("learn.lr"); empty for any other column
  bool numeric = true;   ///< otherwise text
  bool integer = false;  ///< numeric, and stored as whole numbers: 10000000000000000 is not shown as 1e+16
};

/// Does a column of this name have a fixed meaning, so that no final value may have it?
bool is_reserved_column(const std::string& name);

/// A column that was read. A run without this axis has NaN, or the empty text.
struct Column : ColumnInfo {
  std::vector<double> number;       ///< when numeric: one value per run (int64 columns are exact below 2^53)
  std::vector<std::uint32_t> code;  ///< when text: one index into `words` per run
  std::vector<std::string> words;   ///< when text: the different texts, in the order in which the runs bring them
  std::size_t size() const { return numeric ? number.size() : code.size(); }
  const std::string& text(std::size_t run) const { return words[code[run]]; }
};

/// What a result file says about its suite, and the columns of its root table that were asked for.
struct ResultFile {
  std::string suite, version, status, digest, fingerprint;  ///< as stored
  std::size_t runs = 0;
  std::vector<ColumnInfo> all;  ///< every column of the root table in file order, read or not
  std::vector<Column> columns;  ///< env, rater, policy, estimator, votes, seed, status, all axes, and the columns asked for; in file order
  std::vector<std::uint32_t> rows;  ///< of the file's root table, of runs that were chosen (chosen_runs); empty = all of them
  std::size_t failed = 0;       ///< runs with status "failed"
  std::vector<std::string> failed_ids;  ///< ids of the first of them, at most `failed_ids_kept`
  std::vector<std::pair<std::string, std::string>> provenance;
  std::vector<std::string> curves;  ///< names of the curves of all worlds, each once; read by read_runs() alone
  static constexpr std::size_t failed_ids_kept = 10;

  const ColumnInfo* info(const std::string& name) const;  ///< nullptr when the file has no such column
  const Column* column(const std::string& name) const;    ///< nullptr when absent or not read
  const std::string* provenance_text(const std::string& name) const;
  std::uint32_t row(std::size_t run) const { return rows.empty() ? static_cast<std::uint32_t>(run) : rows[run]; }
  /// Did this run end well? Needs the column `status`.
  bool ok(std::size_t run) const;
};

}  // namespace odrpo
