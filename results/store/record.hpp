// RunRecord: what one run leaves behind, written once. Neutral strings and numbers; this module knows nothing of suites.
#pragma once
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

/// Names of evaluations per prompt, which win rates between runs are made of: true quality in levels, and words before the end.
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

/// What a checkpoint holds, so that a later call need not do it again: the state of a run (named by its id), or what several runs start
/// from (named by whatever decides it).
enum class CheckpointKind { run, start };

}  // namespace odrpo
