// Defines what a table shows ([table] of a suite, data set "table" of a result file, flags of `table`), and the words for its values.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/shared/words.hpp"

namespace odrpo {

/// How a row is compared with the baseline row.
enum class Compare { difference, percent };
inline constexpr Word<Compare> compare_words[] = {
    {Compare::difference, "difference", "this row minus the baseline, paired by seed"},
    {Compare::percent, "percent", "100 (this row / baseline - 1), paired by seed; shares of runs by difference"},
};

/// Whether p values are corrected before a difference gets a star.
enum class Correction { holm, none };
inline constexpr Word<Correction> correction_words[] = {
    {Correction::holm, "holm", "p < .05 after Holm's correction for all differences of the value in the table"},
    {Correction::none, "none", "p < .05 of this difference alone"},
};

/// The word for rows or columns that are the shown values, in a table of several values.
inline constexpr const char* values_dimension = "value";

/// A baseline, and the rows that are compared with it.
struct BaselineGroup {
  std::string baseline;
  std::vector<std::string> rows;  ///< without the baseline itself
  bool operator==(const BaselineGroup&) const = default;
};

/// Texts that tables and figures show in place of names: (name, text). A name is a value of a dimension, "odrpo(grpo)", or AXIS=VALUE, "votes=8".
using Labels = std::vector<std::pair<std::string, std::string>>;

/// What a table shows. Dimensions are env, rater, policy, estimator, votes, the extra axes of the file, and `value`.
struct TableSpec {
  std::string rows = "estimator", columns = "votes";
  std::vector<std::string> value{"gain"};  ///< words of value_words, or names of columns; several need rows or columns `value`
  std::string baseline{};                  ///< the row with which all other rows are compared; empty = none
  std::vector<BaselineGroup> groups{};     ///< used instead of `baseline`: groups with baselines of their own; other rows are not compared
  Compare compare = Compare::difference;
  Correction correction = Correction::holm;
  std::vector<std::string> best{};  ///< axes for which each cell chooses the value with the best mean of the first of `value`
  int tune_seeds = 0;               ///< choose on seeds below this and report the other seeds; 0 = choose on the reported seeds
  Labels labels{};
  double power_difference = 0;      ///< show how many seeds find this difference (in the shown unit), not the differences; 0 = no

  bool chose_apart() const { return !best.empty() && tune_seeds > 0; }  ///< choice on seeds that are not reported
  bool compares() const { return !baseline.empty() || !groups.empty(); }
  bool is_baseline(std::string_view row) const {
    return groups.empty() ? row == baseline && compares()
                          : std::any_of(groups.begin(), groups.end(), [&](const BaselineGroup& g) { return g.baseline == row; });
  }
  /// The baseline with which a row is compared; empty if there is none, as for a baseline itself.
  std::string_view baseline_of(std::string_view row) const {
    if (groups.empty()) return row == baseline ? std::string_view() : baseline;
    for (const BaselineGroup& g : groups)
      if (std::find(g.rows.begin(), g.rows.end(), row) != g.rows.end()) return g.baseline;
    return {};
  }
  bool over_values() const { return rows == values_dimension || columns == values_dimension; }
};

/// Parses the spec that `run` stored in the provenance data set "table": lines `key = value`, lists with commas. Ignores unknown keys.
TableSpec parse_table_spec(std::string_view lines);
/// Returns what is wrong with the lines of a stored spec; empty if nothing is. Accepts unknown keys, since a later program may write them.
std::string table_spec_problem(std::string_view lines);
/// Writes a spec as lines that parse_table_spec reads.
std::string table_spec_lines(const TableSpec& spec);

// Words for the values of a run that a table can show. Each is a column of the result file, or computed from one.

/// What a suite must set so that its runs have a value. (For values of the toy language model see of_texts().)
enum class ValueNeeds { nothing, gradient, logits, call_seconds, call_price, resampling };
constexpr const char* needs_text(ValueNeeds needs) {
  switch (needs) {
    case ValueNeeds::nothing: break;
    case ValueNeeds::gradient: return "`gradient` above 0 in [record] and an env of base bandit";
    case ValueNeeds::logits: return "`logits` = 1 in [record] and an env of base bandit";
    case ValueNeeds::call_seconds: return "`seconds_per_call` in [rater.NAME]";
    case ValueNeeds::call_price: return "`price_per_call` in [rater.NAME]";
    case ValueNeeds::resampling: return "`dead_groups` = \"resample\" in [learn]";
  }
  return "";
}

/// A named value: its column in the file, the factor and unit in which it is shown, whether more is better, and whether it is 0 or 1 for
/// each run.
struct ValueWord {
  const char *word, *column;
  double factor;
  const char* unit;
  bool more_is_better;
  const char* meaning;
  bool share = false;   ///< 0 or 1 in each run: cells show shares of runs, with Wilson's intervals
  bool median = false;  ///< a measured time: cells show median and quartiles
  ValueNeeds needs = ValueNeeds::nothing;
};
inline constexpr ValueWord value_words[] = {
    {"gain", "final_gain", 100, "%", true,
     "share of the headroom reached at the last step, 100 (final_quality - uniform_quality) / (best_quality - uniform_quality)"},
    {"quality", "final_quality", 1, "levels", true,
     "true quality at the last step: exact expectation (bandit), mean over the evaluated responses (toy-lm)"},
    {"regret", "regret", 1, "levels", false, "best_quality - final_quality at the last step"},
    {"reward", "final_reward", 1, "levels", true, "mean seen reward at the end of training"},
    {"auc", "auc_gain", 100, "%", true, "share of the headroom, mean over training"},
    {"collapsed", "collapsed", 100, "%", false, "share of runs whose seen reward fell below its peak and stayed there", true},
    {"largest-fall", "largest_fall", 1, "levels", false, "largest fall of the seen reward from its peak, means over windows of batches"},
    {"quality-fall", "quality_fall", 1, "levels", false, "true quality at the last step below the best recorded one"},
    {"grounding", "grounding", 100, "%", true,
     "toy-lm: two judges' mean, 0 where the quality filter fails; expected value at most 90.0 %, the judges' sensitivity"},
    {"win-rate", "win_rate_length_controlled", 100, "%", true,
     "toy-lm: length-controlled win rate against the policy before training; below 100 %"},
    {"instructions", "instructions", 100, "%", true,
     "toy-lm: instructions followed, mean of strict and loose, prompts and instructions; at most 100 %"},
    {"held-out", "held_out", 100, "%", true,
     "toy-lm: mean of grounding, win-rate and instructions; expected value below 96.7 %, as grounding is limited"},
    {"gradient-cosine", "gradient_cosine", 1, "", true,
     "cosine of a batch's mean redrawn gradient with the exact gradient of its expected true quality, mean over the recorded steps", false,
     false, ValueNeeds::gradient},
    {"gradient-snr", "gradient_snr", 1, "", true,
     "squared norm of a batch's mean gradient over the variance of one redraw, mean over the recorded steps", false, false,
     ValueNeeds::gradient},
    {"logit-shift", "logit_shift", 1, "nats", true,
     "how far the logit ln(p / (1 - p)) of the response rose that the policy liked best before training, mean over prompts", false, false,
     ValueNeeds::logits},
    {"logit-spread", "logit_spread", 1, "nats", false, "standard deviation of that rise over prompts", false, false, ValueNeeds::logits},
    {"entropy-collapse", "entropy_collapse", 100, "%", false, "share of runs whose policy's entropy fell below a tenth of that before training",
     true, false, ValueNeeds::logits},
    {"seconds", "step_time_median", 1e6, "us", false, "wall time of one training step, median over the run", false, true},
    {"judge-seconds", "judge_seconds", 1, "s", false,
     "time that the judge's calls of one training step take, by the rater's seconds_per_call and parallel", false, false,
     ValueNeeds::call_seconds},
    {"modelled-seconds", "modelled_seconds", 1, "s", false,
     "judge-seconds and the wall time of one training step without the simulated judge, median over the run", false, true,
     ValueNeeds::call_seconds},
    {"judge-cost", "judge_cost", 1, "", false,
     "price of the judge's calls of the whole training, in the unit of the rater's price_per_call", false, false, ValueNeeds::call_price},
    {"drawn-rollouts", "drawn_rollouts", 1, "", false, "rollouts of the whole training, those of dropped groups too", false, false, ValueNeeds::resampling},
};

/// Start of the names of values that are computed when a file is read, one for each of its estimators. Their columns have these names.
inline constexpr std::string_view win_rate_over = "win-rate-over-";
inline constexpr ValueWord win_rate_over_word{
    "win-rate-over-ESTIMATOR",
    "",
    100,
    "%",
    true,
    "toy-lm: length-controlled win rate against the final policy of ESTIMATOR's run of the same seed and settings, expected over the "
    "judge's error; 50 % of ESTIMATOR itself"};
/// Reason in messages why `best` cannot choose by a win rate over an estimator.
inline constexpr const char* no_choice =
    "each run meets one of the same settings, so that the best would be what is worst for the other; put another value first";
/// The ESTIMATOR in the name of a win-rate-over value; empty for any other value. In the part before it, - and _ are equal.
inline std::string_view opponent_of(std::string_view value) {
  if (!same_word(value.substr(0, win_rate_over.size()), win_rate_over)) return {};
  return value.substr(win_rate_over.size());
}

/// True if only runs of the toy language model have this value; its meaning then begins with "toy-lm:".
inline bool of_texts(const ValueWord& value) { return std::string_view(value.meaning).starts_with("toy-lm:"); }

}  // namespace odrpo
