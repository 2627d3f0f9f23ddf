// Defines RunRecord, the record of one finished run, and ResultFile, the root table of many runs. Depends on no suite: texts and numbers
// only.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace odrpo {

// Axis: the value of a run on one axis of the suite's grid that has no fixed column.

using AxisValue = std::variant<std::int64_t, double, std::string>;
/// The name of an axis of the suite's grid and the run's value on it, e.g. {"learn.lr", 0.03}. Each axis becomes a column of the root table
/// (one row per run).
using Axis = std::pair<std::string, AxisValue>;

enum class RunStatus { ok, failed };

/// Stages of a training step whose seconds are recorded, in the order in which train_step runs them.
inline constexpr const char* stage_names[] = {"prompts", "policy", "rater", "estimator", "update", "record"};
enum Stage { stage_prompts, stage_policy, stage_rater, stage_estimator, stage_update, stage_record };
inline constexpr int stage_count = stage_record + 1;
static_assert(sizeof stage_names / sizeof stage_names[0] == stage_count);

/// A named list of values: a curve has one value per recorded step, an evaluation one per prompt. NaN = undefined.
struct Curve {
  std::string name;
  std::vector<double> values;
};
/// A final value of a run, float64; each name is a column of the root table.
struct Final {
  std::string name;
  double value = 0;
};

/// Name of the final value that contains a measured time, that of a training step. The digest and `diff` ignore it, since a time is no result.
inline constexpr const char* modelled_seconds = "modelled_seconds";

/// Names of the evaluations per prompt: true quality (in levels), and number of words before the end. Win rates between runs are made from
/// them.
inline constexpr const char *evaluated_quality = "quality", *evaluated_length = "length";

/// Columns of the rollouts that a run keeps (`[record] rollouts`), in their order. The bandit has no `length`.
inline constexpr const char* rollout_columns[] = {"step", "prompt", "response", "reward", "advantage", "length", "quality"};
enum RolloutColumn { rollout_step, rollout_prompt, rollout_response, rollout_reward, rollout_advantage, rollout_length, rollout_quality };
inline constexpr int rollout_column_count = rollout_quality + 1;
static_assert(sizeof rollout_columns / sizeof rollout_columns[0] == rollout_column_count);

/// The record of one run. Names of curves and final values are lower_case words; docs/reference/curves.md and docs/results.md state their
/// units.
struct RunRecord {
  std::string id, key, env, rater, policy, estimator;
  int votes = 1;
  int seed = 0;  ///< the seed's index: 0, 1, …
  std::vector<Axis> axes;
  RunStatus status = RunStatus::ok;
  std::string error;               ///< why the run failed; empty when ok
  std::vector<Final> finals;       ///< final_quality, auc_quality, regret, judge_calls, …: columns of the root table
  std::vector<std::int32_t> step;  ///< recorded steps: the number of updates done before the values were taken
  std::vector<Curve> curves;
  std::vector<Curve> evaluated;  ///< evaluations per prompt, all of one length: value i is that of prompt i; empty if the world has none
  std::vector<Curve> rollouts;   ///< columns of rollout_columns, all of one length: a value for each kept rollout; groups of a step are neighbours; no result
  std::vector<float> seconds;    ///< [step][stage_count] seconds per training step, mean over the steps since the previous record
  double step_time_median = 0;   ///< seconds per training step, all stages but `record`
};

// CheckpointKind: what a checkpoint holds.

/// What a checkpoint file holds, so that a later call of the program need not compute it again. `run`: the state of one run, named by the
/// run's id. `start`: a state from which several runs start, named by the settings that decide it.
enum class CheckpointKind { run, start };

// The root table of a result file in memory. It has one row per run. Texts are stored as codes, so that a million runs need little memory.

/// The description of a column of the root table.
struct ColumnInfo {
  std::string name;
  std::string axis;      ///< the grid axis whose values it holds ("learn.lr"); empty for any other column
  bool numeric = true;   ///< otherwise text
  bool integer = false;  ///< numeric and stored as integers, so that 10000000000000000 is not printed as 1e+16
};

/// True if the column of this name has a fixed meaning; a final value may not have such a name.
bool is_reserved_column(const std::string& name);

/// A column with its values. A run without the column's axis has NaN, or the empty text.
struct Column : ColumnInfo {
  std::vector<double> number;       ///< of a numeric column: one value per run (int64 values are exact below 2^53)
  std::vector<std::uint32_t> code;  ///< of a text column: one index into `words` per run
  std::vector<std::string> words;   ///< of a text column: the different texts, in the order of their first run
  std::size_t size() const { return numeric ? number.size() : code.size(); }
  const std::string& text(std::size_t run) const { return words[code[run]]; }
};

/// The attributes of a result file, and those columns of its root table that the reader asked for.
struct ResultFile {
  std::string suite, version, status, digest, fingerprint;  ///< as stored
  std::size_t runs = 0;
  std::vector<ColumnInfo> all;  ///< every column of the root table in file order, whether read or not
  std::vector<Column> columns;  ///< env, rater, policy, estimator, votes, seed, status, all axes, and the columns asked for, in file order
  std::vector<std::uint32_t> rows;  ///< rows of the file's root table that chosen_runs() kept; empty = all
  std::size_t failed = 0;       ///< runs with status "failed"
  std::vector<std::string> failed_ids;  ///< ids of the first failed runs, at most `failed_ids_kept`
  std::vector<std::pair<std::string, std::string>> provenance;
  std::vector<std::string> curves;  ///< names of the curves of all worlds, each once; set only by read_runs()
  static constexpr std::size_t failed_ids_kept = 10;
  /// One of the files that joined_files() joined: its name in tables, its digest, how many runs it has, and the seed of its worlds.
  struct Source {
    std::string name, digest;
    std::size_t runs = 0;
    std::string seed;  ///< its suite.seed, as its resolved suite writes it; empty if unknown
  };
  std::vector<Source> sources;  ///< of joined files, whose runs follow each other in this order; empty = one file

  const ColumnInfo* info(const std::string& name) const;  ///< nullptr if the file has no column of this name
  const Column* column(const std::string& name) const;    ///< nullptr if the file has no such column, or it was not read
  const std::string* provenance_text(const std::string& name) const;
  std::uint32_t row(std::size_t run) const { return rows.empty() ? static_cast<std::uint32_t>(run) : rows[run]; }
  /// True if this run ended well. Needs the column `status`.
  bool ok(std::size_t run) const;
};

}  // namespace odrpo
