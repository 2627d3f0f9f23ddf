// The words for what a table can show of a run: a column of the result file each, or what is computed from it.
#pragma once
#include <string_view>

#include "kernels/shared/words.hpp"

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
inline std::string_view opponent_of(std::string_view value) {
  if (!same_word(value.substr(0, win_rate_over.size()), win_rate_over)) return {};
  return value.substr(win_rate_over.size());
}

/// Does only the toy language model have it? Its meaning says so first.
inline bool of_texts(const ValueWord& value) { return std::string_view(value.meaning).starts_with("toy-lm:"); }

}  // namespace odrpo
