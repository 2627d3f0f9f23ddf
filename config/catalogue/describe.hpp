// Describes the sections that belong to suites alone: [suite], [grid] and [table]. Other sections are described next to their config.
// Descriptions call the methods of class Visitor (config/catalogue/fields.cpp).
#pragma once
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalogue/axis.hpp"
#include "config/spec.hpp"
#include "config/suite_config.hpp"
#include "kernels/shared/field_rules.hpp"
#include "kernels/shared/words.hpp"
#include "results/scores/rows.hpp"
#include "results/table/table_spec.hpp"

namespace odrpo {

/// The keys of section [suite].
struct SuiteHead {
  std::string name;  ///< required
  std::int64_t seed = 0;
  int seeds = 1;
};
template <class V>
void describe(V& v, SuiteHead& c) {
  v.text("name", c.name, "name of the suite: letters, digits, `.`, `_`, `-`; at most 64; required");
  v.integer("seed", c.seed, 0, std::numeric_limits<std::int64_t>::max(), "seed of everything");
  v.integer("seeds", c.seeds, 1, 100'000, "seeds: every combination is run with s0, s1, ...");
}

inline constexpr std::string_view zip_key = "zip";
/// The keys of section [grid]: words of the catalogues or named variants; every combination is run.
struct GridConfig {
  std::vector<std::string> env{"bandit"}, rater{"mixed"}, policy{"linear"}, estimator;
  std::vector<int> votes{1};
};
template <class V>
void describe(V& v, GridConfig& c) {
  v.names("env", c.env, "worlds");
  v.names("rater", c.rater, "raters");
  v.names("policy", c.policy, "policies");
  v.names("estimator", c.estimator, "advantage estimators; required");
  v.integers("votes", c.votes, 1, 1024, "N, votes per response");
  v.entries(zip_key,
            "one axis that sets several things at once: a list of tables with the same keys, env, rater, policy, estimator, votes or a "
            "dotted key; [{ votes = 1, \"learn.steps\" = 2400 }, { votes = 8, \"learn.steps\" = 300 }]");
}

/// The words that `value` of [table] allows: those of results/table/table_spec.hpp, and any win rate over an estimator.
inline constexpr auto table_values = [] {
  std::array<Choice, std::size(value_words) + 1> words{};
  for (std::size_t i = 0; i < std::size(value_words); ++i) words[i] = {value_words[i].word, value_words[i].meaning};
  words.back() = {win_rate_over_word.word, win_rate_over_word.meaning, win_rate_over};
  return words;
}();
inline constexpr OnlyIf baseline_only = given("baseline", "there is no baseline to compare with");
inline constexpr OnlyIf best_only = given("best", "there is no `best` to choose");
template <class V>
void describe(V& v, TableConfig& c) {
  v.text("rows", c.rows,
         "what the rows are: env, rater, policy, estimator, votes, an axis, or `value`: one row for each of several values");
  v.text("columns", c.columns, "what the columns are: the same choice");
  v.choices("value", c.value, std::span<const Choice>(table_values), "what the cells show; a list needs rows or columns `value`");
  v.baselines("baseline", c.baseline, c.groups,
              "the row that others are compared with, paired by seed; empty = none; or rows with baselines of their own: "
              "{ grpo = [\"odrpo(grpo)\"], maxrl = [\"odrpo(maxrl)\"] }");
  v.word("compare", c.compare, std::span<const Word<Compare>>(compare_words), "how they are compared; percent = 100 (row / baseline - 1)",
         baseline_only);
  v.word("correction", c.correction, std::span<const Word<Correction>>(correction_words), "what a star beside a difference means",
         baseline_only);
  v.names("best", c.best, "axes of which each cell takes its best value, by the first of several values");
  v.integer("tune_seeds", c.tune_seeds, 0, 100'000, "choose `best` on the first n seeds, report the others; 0 = all for both", best_only);
}

/// Keys of a section that are not fields of its config. They say what a variant starts from, and how a rater's file of scores is read.
inline constexpr std::string_view base_key = "base", scores_key = "scores", levels_key = "levels", scale_key = "scale",
                                  columns_key = "columns", world_key = "world", file_key = "file", command_key = "command", library_key = "library";
inline constexpr std::string_view rollouts_key = "rollouts", judge_key = "judge", groups_key = "groups", reward_key = "reward";
inline constexpr std::string_view rollouts_help =
    "a dump of a real training (docs/rollouts.md): the world's prompts are its prompts, the responses of a prompt the completions of its last group, their quality "
    "is drawn for each seed from what their scores say of it by `judge`";
inline constexpr std::string_view reward_help = "which of several rewards of `rollouts` is the judge's";
inline constexpr std::string_view rollouts_scale_help = "the rewards that the judge's levels stand for: \"0..10\" or \"0..5 by 0.5\"; unset = 1..K";
inline constexpr std::string_view file_help =
    "a TOML file with one section [rater.NAME], such as `judge fit` writes: the rater to start from";
inline constexpr std::string_view scores_help =
    "a real judge's scores (CSV, TSV or JSON lines), from which the judge and its world are learned; without `columns` the file has "
    "prompt_id, "
    "response_id, sample_id and score";
inline constexpr std::string_view levels_help = "levels of the scale of `scores`, which is 1..levels; unset = those found";
inline constexpr std::string_view scale_help =
    "the scores that there are, from the worst: \"0..10\", \"0..5 by 0.5\" or a list of numbers; unset = those found";
inline constexpr std::string_view columns_help = "names of the columns of `scores`";
/// How a judge and its world are made from a file of scores.
enum class LearnedWorld { latent, resample };
inline constexpr Word<LearnedWorld> learned_words[] = {
    {LearnedWorld::latent, "latent", "a judge or panel on a latent scale, fitted by simulated moments, in the world of that scale"},
    {LearnedWorld::resample, "resample", "the file's responses themselves, each with its own scores, drawn again and again"},
};
inline constexpr std::string_view world_help = "what is made of `scores`: latent or resample";
template <class V>
void describe(V& v, ScoreColumns& c) {
  v.text("prompt", c.prompt, "the prompt");
  v.text("response", c.response, "the response to it");
  v.text("sample", c.sample, "the number of the call; without it scores are numbered in the order of the file");
  v.text("score", c.score, "the score");
  v.text("rater", c.rater,
         "the judge, or made of the sample: sample_id / 2 are blocks of two calls, sample_id % 2 are two judges in turn; without it there "
         "is one judge");
  v.text("gold", c.gold, "the true score of the response, if known");
}

/// Returns the suite section of a config: SECTION of [SECTION], or of [SECTION.NAME] for variants.
template <class C>
std::string_view section_of() = delete;
template <>
constexpr std::string_view section_of<SuiteHead>() {
  return "suite";
}
template <>
constexpr std::string_view section_of<GridConfig>() {
  return "grid";
}
template <>
constexpr std::string_view section_of<EnvConfig>() {
  return "env";
}
template <>
constexpr std::string_view section_of<RaterConfig>() {
  return "rater";
}
template <>
constexpr std::string_view section_of<PolicyConfig>() {
  return "policy";
}
template <>
constexpr std::string_view section_of<EstimatorConfig>() {
  return "estimator";
}
/// The allowed words of a catalogue for an error: all of them, or the command that lists them if they are many.
template <class C>
std::string allowed_words(std::span<const std::string_view> words) {
  constexpr std::size_t few = 12;
  if (words.size() <= few) return one_of(words);
  return fmt::format("a word of `odrpo-bench list {0}s`, or the NAME of a section [{0}.NAME]", section_of<C>());
}
template <>
constexpr std::string_view section_of<LearnConfig>() {
  return "learn";
}
template <>
constexpr std::string_view section_of<RecordConfig>() {
  return "record";
}
template <>
constexpr std::string_view section_of<TableConfig>() {
  return "table";
}
template <>
constexpr std::string_view section_of<GateConfig>() {
  return "gate";
}
template <>
constexpr std::string_view section_of<LimitsConfig>() {
  return "limits";
}

/// The section whose keys are names of the grid, and whose values are their labels.
inline constexpr std::string_view label_section = "label";
inline constexpr std::size_t longest_label = 60;  ///< characters

/// All sections, in the order that messages and lists have.
inline constexpr std::string_view sections[] = {section_of<SuiteHead>(),   section_of<GridConfig>(),   section_of<EnvConfig>(),
                                                section_of<RaterConfig>(), section_of<PolicyConfig>(), section_of<EstimatorConfig>(),
                                                section_of<LearnConfig>(), section_of<RecordConfig>(), section_of<TableConfig>(),
                                                section_of<GateConfig>(),  section_of<LimitsConfig>(),   label_section};

}  // namespace odrpo
