// What `explain` shows, as data: one group, and its advantages by every estimator under every convention.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/command.hpp"
#include "estimators/compat.hpp"
#include "estimators/formula_text.hpp"

namespace odrpo::app {

/// Systems that compute the same: one formula, one set of numbers.
struct Convened {
  std::vector<Compat> systems;
  std::vector<Whitening> after;  ///< what each does to the batch afterwards
  EstimatorConfig config;        ///< of the first
  std::string formula;
  Breakdown parts;
};

struct ExplainedEstimator {
  std::string word;
  std::vector<Convened> rows;
  std::vector<std::pair<Compat, std::string>> refused;  ///< systems without this form, and why
};

/// Neighbouring levels of which each gives the same under every convention.
struct LevelRun {
  std::size_t first;  ///< place of the lowest in Breakdown::levels
  double high;        ///< of the highest
  int levels;
};

struct Explanation {
  std::vector<double> rewards;
  std::vector<std::pair<double, int>> values;  ///< distinct rewards, ascending, and how many members have each
  int levels = 10, origin = 1;
  std::vector<double> level_values;         ///< what the levels are worth; empty = 1..K
  bool whole = true;                        ///< every reward is a whole number: levels; else gaps
  std::string median_rule;                  ///< lower, mid, upper, or "given"
  double mean = 0, median = 0;              ///< the mean of what rewards are worth; the median as a level
  double population_sd = 0, sample_sd = 0;  ///< ddof 0 and 1; NaN where undefined
  std::vector<ExplainedEstimator> estimators;
  std::string model;                 ///< of posterior estimators; empty when none is asked for
  std::vector<double> posterior;     ///< [members] posterior scores under its fixed prior; empty likewise
  double variance = 0;               ///< what these leave open, levels^2 (GroupPosterior::values_and_variance())
  bool floored = false;              ///< an estimator divides by their deviation, raised by this variance
  std::vector<std::string> remarks;  ///< plain sentences about what is out of proportion
  /// The advantage of the members with that reward.
  double advantage(const Breakdown& parts, double reward) const;
  double posterior_score(double reward) const;
  /// What a reward is worth: the reward itself without values.
  double worth(double reward) const;
};

/// Numbers of a command line: separated by commas or blanks, finite, 0..most_explained_level, 1 to 255 of them. Failure usage names the
/// first bad one.
std::vector<double> read_rewards(const std::vector<std::string>& words);

/// The estimator that a word of --estimator means. Failure usage.
EstimatorConfig read_estimator(const std::string& word);

/// Computes everything. Failure usage for words that do not exist and for levels below the rewards.
Explanation explain_group(const ExplainOptions& options);

/// Levels that tell members apart, or that pay a group of one under some convention; neighbours with the same numbers folded into one run.
std::vector<LevelRun> living_levels(const Explanation& group, const ExplainedEstimator& estimator);

/// Plain sentences about what is out of proportion in the group.
std::vector<std::string> remarks_on(const Explanation& group);

/// The systems' words: "verl, trl".
inline std::string systems_text(const std::vector<Compat>& systems) {
  return joined(systems, [](Compat system) { return word_of<Compat>(compat_words, system); });
}
std::string explanation_text(const Explanation& group, bool verbose);
std::string explanation_json(const Explanation& group);

}  // namespace odrpo::app
