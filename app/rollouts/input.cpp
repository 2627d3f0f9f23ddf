// Reads dumps of rollouts as the flags say.
#include "app/rollouts/input.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/flags/estimator_flag.hpp"
#include "app/flags/flag_values.hpp"
#include "estimators/compat.hpp"
#include "kernels/system/fail.hpp"
#include "train/rollouts/advantages.hpp"
#include "train/rollouts/rollout_analysis.hpp"

namespace odrpo::app {

RolloutReading rollout_reading(const RolloutOptions& o) {
  RolloutReading how;
  set_reading(o.reading, how.scores);
  how.scores.columns.named_by = "--";
  if (!o.format.empty()) how.format = word_or_refuse<RolloutFormat>("--format", rollout_format_words, o.format);
  how.step = o.step, how.prompt = o.prompt, how.group = o.group, how.advantage = o.advantage, how.length = o.length, how.group_size = o.group_size;
  if (!o.rewards.empty()) how.rewards = list_items("--reward", o.rewards);
  if (!o.weights.empty()) how.weights = read_numbers("--reward-weights", o.weights);
  const std::pair<const char*, const std::string&> named[] = {{"--step", o.step}, {"--prompt", o.prompt}, {"--group", o.group}, {"--advantage", o.advantage}, {"--length", o.length}};
  for (const auto& [flag, text] : named)
    for (const std::string& reward : how.rewards)
      if (text == reward) fail(Exit::usage, "{} and --reward both name \"{}\"", flag, text);
  return how;
}

ScaleChoice scale_choice(const RolloutOptions& o) {
  ScaleChoice choice;
  if (o.levels > 0 && !o.scale.empty()) fail(Exit::usage, "--scale and --levels both say what the levels are: keep one");
  if (o.levels > 0) choice.stated = scale_of_levels(o.levels).values;
  if (!o.scale.empty()) {
    const auto scale = parse_scale(o.scale);
    if (!scale) fail(Exit::usage, "--scale is \"{}\": 0..10 or \"0..5 by 0.5\" is wanted, 2 to {} levels", shown(o.scale), most_levels);
    choice.stated = scale->values;
  }
  ScoreReading how;
  set_reading(o.reading, how);
  choice.round = how.round, choice.bins = how.bins;
  if (choice.bins > 0 && !choice.stated.empty()) fail(Exit::usage, "--bins makes levels of its own, and --scale or --levels state others: keep one");
  return choice;
}

ChosenEstimators chosen_estimators(const RolloutOptions& o, std::span<const std::string_view> usual, bool judge) {
  ChosenEstimators chosen;
  const Compat compat = o.compat.empty() ? Compat::paper : word_or_refuse<Compat>("--compat", compat_words, o.compat);
  std::vector<std::string> texts = o.estimators;
  if (texts.empty()) texts.assign(usual.begin(), usual.end());
  std::string kept;
  for (const std::string& text : texts) {
    EstimatorConfig config = estimator_of_text("--estimator", text);
    const std::string word = estimator_text(config);
    if (config.corrected && judge) fail(Exit::limits, "{}: corrected scores of a dump are not computed", word);
    if (needs_judge(config) && !judge) fail(Exit::limits, "{} needs a model of the judge: --judge names one", word);
    config.compat = compat;
    if (const auto refusal = compat_refusal(config)) {
      if (!o.estimators.empty()) fail(Exit::limits, "{}", *refusal);
      config.compat = Compat::paper;
      kept += (kept.empty() ? "" : ", ") + word;
    }
    if (std::find(chosen.judged.begin(), chosen.judged.end(), config) != chosen.judged.end()) fail(Exit::usage, "--estimator {} is given twice", word);
    chosen.judged.push_back(config);
    if (config.posterior) continue;
    chosen.configs.push_back(config);
    chosen.texts.push_back(word);
  }
  if (!kept.empty()) chosen.notes.push_back(fmt::format("{} has no {}: computed as paper", o.compat, kept));
  return chosen;
}

RolloutInput read_rollout_input(const RolloutOptions& o, bool explain) {
  const RolloutReading how = rollout_reading(o);
  const ScaleChoice scale = scale_choice(o);
  RolloutInput in;
  in.rollouts = read_rollouts(o.paths, how);
  if (const int largest = largest_group(in.rollouts); largest > most_scores)
    fail(Exit::limits, "a group of {} completions: at most {} are compared with each other", largest, most_scores);
  const std::size_t columns = in.rollouts.columns();
  const bool open = columns > 1 && in.rollouts.weights.empty();  // nobody says how rewards are weighted
  if (!in.rollouts.advantage.empty() && (explain || open)) in.logged = explain_logged(in.rollouts, scale);
  if (in.rollouts.advantage.empty() && explain) in.notes.push_back("no advantages in the dump (--advantage names another key): which estimator its trainer used is not said");
  std::vector<double> weights = in.rollouts.weights.empty() ? std::vector<double>(columns, 1.0) : in.rollouts.weights;
  if (open) {
    if (in.logged && in.logged->found) {
      weights = in.logged->weights;
      in.notes.push_back(fmt::format("weights of the rewards are not in the dump; found from its advantages: {}", fmt::join(weights, ", ")));
    } else in.notes.push_back("weights of the rewards are not in the dump: each counts 1; --reward-weights sets them");
  }
  in.rewards = rewards_of(in.rollouts, weights, scale);
  if (!in.rewards.no_scale.empty() && in.rewards.most > in.rewards.least)
    in.notes.push_back(fmt::format("no levels: {}; --round or --bins make levels, --scale states them", in.rewards.no_scale));
  return in;
}

std::string rewards_text(const RolloutInput& input) {
  std::string text;
  for (std::size_t c = 0; c < input.rollouts.columns(); ++c) {
    const double w = input.rewards.weights[c];
    if (!text.empty()) text += " + ";
    if (w != 1) text += fmt::format("{} ", w);
    text += printable_line(input.rollouts.reward_names[c]);
  }
  return text;
}

}  // namespace odrpo::app
