// Defines the data that `explain` shows: one group, and its advantages by several estimators under several conventions.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/command.hpp"
#include "estimators/compat.hpp"
#include "estimators/corrected.hpp"
#include "estimators/formula_text.hpp"

namespace odrpo::app {

/// Systems whose conventions give one estimator the same formula and this group the same advantages.
struct Convened {
  std::vector<Compat> systems;
  std::vector<Whitening> after;  ///< [systems] how each then whitens the batch of advantages
  EstimatorConfig config;        ///< the estimator by the convention of the first system
  std::string formula;
  Breakdown parts;
};

struct ExplainedEstimator {
  std::string word;
  std::vector<Convened> rows;
  std::vector<std::pair<Compat, std::string>> refused;  ///< systems that lack this form, with an error message
};

/// Neighbouring levels with equal numbers (weight, divisor, advantages) under every convention. They are shown in one line.
struct LevelRun {
  std::size_t first;  ///< index of the lowest level in Breakdown::levels
  double high;        ///< LevelPart::high of the highest level
  int levels;         ///< how many they are
};

struct Explanation {
  std::vector<double> rewards;
  int missing = 0;                             ///< members without a reward, which are left out
  std::vector<std::pair<double, int>> values;  ///< distinct rewards, ascending, and how many members have each
  int levels = 10, origin = 1;
  std::vector<double> level_values;         ///< R_1..R_K, the values of the levels; empty = 1..K
  bool whole = true;                        ///< every reward is a whole number: parts are levels; else gaps between neighbouring rewards
  std::string median_rule;                  ///< rule of `median`: lower, mid, upper; or "given", a number from --median
  double mean = 0, median = 0;              ///< the mean of the rewards' values (worth()); the median of the rewards
  double population_sd = 0, sample_sd = 0;  ///< standard deviation with ddof 0 and 1; NaN where undefined
  std::vector<ExplainedEstimator> estimators;
  std::string model;                 ///< the judge that posterior and corrected estimators assume; empty = no such estimator is asked for
  CorrectedScores corrected;         ///< what scores count in corrected estimators; empty = none is asked for
  std::vector<double> posterior;     ///< [members] posterior scores under the model's fixed prior; empty without model
  double variance = 0;               ///< how uncertain posterior scores are, levels^2 (GroupPosterior::values_and_variance())
  bool floored = false;              ///< an estimator divides by sqrt(D^2 + variance), D = deviation of the posterior scores
  std::string command;               ///< the program that was asked; empty = none
  std::vector<double> answered;      ///< its advantages of the members, in the order of `rewards`, then of those without a reward
  /// The program's advantage of the members that have this reward; NaN where it gives them different ones.
  double answer(double reward) const;
  std::vector<std::string> remarks;  ///< the warnings that remarks_on() gives
  /// The advantage of the members that have this reward, by the convention of `parts`.
  double advantage(const Breakdown& parts, double reward) const;
  double posterior_score(double reward) const;
  /// The value of a reward, linear between the values of the levels; the reward itself where levels have no values.
  double worth(double reward) const;
};

/// Parses --rewards: 1 to 255 finite numbers 0..most_explained_level, separated by commas or blanks. `missing` counts null, NA and the like, which are
/// refused where it is null. Failure usage names the first bad one.
std::vector<double> read_rewards(const std::vector<std::string>& words, int* missing = nullptr);

/// The estimator that a word of --estimator names. Failure usage for an unknown word.
EstimatorConfig read_estimator(const std::string& word);

/// Computes all that `explain` shows. Failure usage for unknown words, rewards above the highest level, and flags that have no effect.
Explanation explain_group(const ExplainOptions& options);

/// Starts the program of --command and asks it for the group's advantages. Failures of OutsideProgram. Adds remarks.
void ask_program(const std::string& command, Explanation& group);
/// Sets what the program answered for the members, those without a reward last, and adds a remark where equal rewards get different advantages.
void add_answers(const std::string& command, std::vector<double> answered, Explanation& group);

/// Levels that some members reach and others do not. Also levels that all reach, if they still give an advantage under some convention, as
/// in a group of one. Neighbours with equal numbers form one LevelRun.
std::vector<LevelRun> living_levels(const Explanation& group, const ExplainedEstimator& estimator);

/// Warnings, one sentence each: a group that teaches nothing, rewards that are equal but for rounding, a divisor that is almost zero.
std::vector<std::string> remarks_on(const Explanation& group);

/// The words of systems as a list: "verl, trl".
inline std::string systems_text(const std::vector<Compat>& systems) {
  return joined(systems, [](Compat system) { return word_of<Compat>(compat_words, system); });
}
/// The text of `explain`. `advice`: what --verbose would add.
std::string explanation_text(const Explanation& group, bool verbose, bool advice = true);
std::string explanation_json(const Explanation& group);

}  // namespace odrpo::app
