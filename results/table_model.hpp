// The model of a table: what its cells, blocks and sentences hold before any renderer prints them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/words.hpp"
#include "results/statistics.hpp"
#include "results/table_spec.hpp"

namespace odrpo {

/// What a suite must set for its runs to have a value; values of the toy language model: of_texts().
enum class ValueNeeds { nothing, gradient, call_seconds, call_price };
constexpr const char* needs_text(ValueNeeds needs) {
  switch (needs) {
    case ValueNeeds::nothing: break;
    case ValueNeeds::gradient: return "`gradient` above 0 in [record] and an env of base bandit";
    case ValueNeeds::call_seconds: return "`seconds_per_call` in [rater.NAME]";
    case ValueNeeds::call_price: return "`price_per_call` in [rater.NAME]";
  }
  return "";
}

/// A named value: its column in the file, the factor and unit it is shown in, whether more is better, whether it is a yes or no of each
/// run.
struct ValueWord {
  const char *word, *column;
  double factor;
  const char* unit;
  bool more_is_better;
  const char* meaning;
  bool share = false;   ///< 0 or 1 in each run: cells are shares of runs, with intervals of their own
  bool median = false;  ///< a measured time: cells are median and quartiles
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
    {"seconds", "step_time_median", 1e6, "us", false, "wall time of one training step, median over the run", false, true},
    {"judge-seconds", "judge_seconds", 1, "s", false,
     "time that the judge's calls of one training step take, by the rater's seconds_per_call and parallel", false, false,
     ValueNeeds::call_seconds},
    {"modelled-seconds", "modelled_seconds", 1, "s", false,
     "judge-seconds and the wall time of one training step without the simulated judge, median over the run", false, true,
     ValueNeeds::call_seconds},
    {"judge-cost", "judge_cost", 1, "", false,
     "price of the judge's calls of the whole training, in the unit of the rater's price_per_call", false, false, ValueNeeds::call_price},
};

/// Values that are computed when a file is read, one for each ESTIMATOR of the file; their columns are named as they are.
inline constexpr std::string_view win_rate_over = "win-rate-over-";
inline constexpr ValueWord win_rate_over_word{
    "win-rate-over-ESTIMATOR",
    "",
    100,
    "%",
    true,
    "toy-lm: length-controlled win rate against the final policy of ESTIMATOR's run of the same seed and settings, expected over the "
    "judge's error; 50 % of ESTIMATOR itself"};
/// Why `best` cannot choose by such a value.
inline constexpr const char* no_choice =
    "each run meets one of the same settings, so that the best would be what is worst for the other; put another value first";
/// The estimator of such a value, - and _ of what stands before it alike; empty when it is another value.
constexpr std::string_view opponent_of(std::string_view value) {
  if (!same_word(value.substr(0, win_rate_over.size()), win_rate_over)) return {};
  return value.substr(win_rate_over.size());
}

/// Does only the toy language model have it? Its meaning says so first.
inline bool of_texts(const ValueWord& value) { return std::string_view(value.meaning).starts_with("toy-lm:"); }

/// One of the values that a table shows, with what its cells hold.
struct TableValue {
  std::string name, unit, meaning;            ///< as in ValueWord; of any other column the name alone
  bool median = false;                        ///< cells hold median and quartiles
  bool share = false;                         ///< cells hold shares of runs and Wilson's intervals
  bool percent = false;                       ///< rows are compared with the baseline in percent of it
  bool more_is_better = true, ranked = true;  ///< ranked: it is known whether more is better
};

/// "grounding [%]".
std::string value_text(const TableValue& value);

/// The value of one of the axes in `best`.
struct ChosenValue {
  std::string axis, value;
  bool at_edge;  ///< the least or the largest of more than two numbers tried
};

/// A row against the baseline row, paired by seed.
struct Comparison {
  MeanInterval difference;                       ///< or percent of the baseline; n = 0 when there is none
  int no_percent = 0;                            ///< pairs that have no percentage: baseline 0 or of the other sign
  double p, p_holm;                              ///< two-sided, of this difference alone and corrected; NaN when it was not tested
  std::vector<ChosenValue> row_at, baseline_at;  ///< of each axis in `best`; equal where both rows are compared at one choice
};

struct TableCell {
  std::string row, column;
  std::size_t of = 0;                    ///< which of the table's values
  int n = 0, failed = 0, undefined = 0;  ///< seeds reported; runs left out because they failed, or their value is NaN
  double centre, sd, lo, hi;             ///< mean and t interval; for a share Wilson's; for a measured time median and quartiles (sd NaN)
  Comparison comparison;
  bool among_best =
      false;  ///< the best of its column in its block, or not distinguishable from it: p of Holm in the column is not below .05
  std::vector<std::string> followed;           ///< value of each of the table's following dimensions; empty in a cell without runs
  std::vector<ChosenValue> chosen;             ///< of each axis in `best`, where the cell's numbers are taken
  std::vector<std::pair<int, double>> values;  ///< (seed, value in the shown unit), by seed
  std::vector<std::uint32_t> runs;             ///< of each value, its run: row of the file's root table
};

/// A dimension that splits nothing: its value is decided by those of rows, columns and `best`. Each cell has its own.
struct FollowingDimension {
  std::string name;
  std::vector<std::string> others;  ///< the dimensions that decide
  std::string text;                 ///< "steps follows votes: 8: 300, 1: 2400", shortened when long
};

/// One table: the dimensions that are neither rows, columns nor best, and follow none of them, have one value each.
struct TableBlock {
  std::vector<std::pair<std::string, std::string>> fixed;
  std::vector<TableCell> cells;  ///< row by row, as long as rows x columns
};

/// Every text in it is printable (printable_text): a renderer adds only what its own format needs.
struct TableModel {
  TableSpec spec;                          ///< with the file's own names of axes
  std::string suite, digest;               ///< the file's, 12 digits of the latter
  std::vector<TableValue> values;          ///< in the order of spec.value
  std::vector<int> tested;                 ///< of each value, the size of its family: comparisons with a p, in all blocks and columns
  std::vector<std::string> rows, columns;  ///< entries of the dimensions; of the dimension `value` the names of the values
  std::vector<std::string> split;          ///< dimensions with several values that make blocks
  std::vector<FollowingDimension> following;
  std::vector<TableBlock> blocks;
  std::vector<std::string> notes;                             ///< failed and undefined values, how `best` was chosen
  std::vector<std::pair<std::string, std::string>> formulas;  ///< estimator, formula: the conventions behind the numbers
  std::vector<std::pair<std::string, std::string>> raters;    ///< rater, what it does
  std::vector<std::pair<std::string, std::string>> settings;  ///< rules of learning that are not the usual ones, the same for all numbers
};

/// Does a comparison get a star: is its p, corrected as the table's spec says, below .05?
bool is_significant(const Comparison& comparison, const TableSpec& spec);

/// How many reported seeds find a true difference of spec.power_difference with probability .8, judged by the standard deviation of a
/// comparison's differences: by a two-sided t test at .05, with the 95 % interval that comes from that deviation's own, and at .05 / m for
/// m tests, Holm's strictest step. 0 = more than a million, or not known.
struct SeedsNeeded {
  int alone, lo, hi, among_all;
};
SeedsNeeded seeds_needed(const Comparison& comparison, const TableModel& table, std::size_t value);

}  // namespace odrpo
