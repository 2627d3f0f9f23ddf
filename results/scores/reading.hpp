// Says how a file of scores is read, and defines the options by which commands and suites say so.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/shared/words.hpp"
#include "results/scores/rows.hpp"

namespace odrpo {

// The scale of a file of scores: which number is which level.

inline constexpr int most_levels = 100;  ///< of a scale

/// The values that scores may have, increasing; empty = those of the file.
struct ScoreScale {
  std::vector<double> values;
};

/// 1, 2, …, `levels`.
ScoreScale scale_of_levels(int levels);

/// The scale that a text states: "0..10" (step 1) or "0..5 by 0.5". Nothing unless it has 2..most_levels values.
std::optional<ScoreScale> parse_scale(std::string_view text);

/// The scale of the scores that a file has (`found`: different, increasing). Whole numbers from 1: 1..the largest. Otherwise the grid from
/// the least to the greatest by the largest step that meets all. `found` itself where no such grid has at most most_levels values.
std::vector<double> scale_of_scores(const std::vector<double>& found);

/// The level 1..K of a reward on a scale [K], increasing; 0 if it is not on it. A reward that differs from a value by rounding alone (1e-4 of
/// the step to its neighbour) is that value.
int level_on(std::span<const double> scale, double reward);

/// "1..6", "0..10 by 0.5", or the values themselves: "0, 0.3, 7".
std::string scale_text(const std::vector<double>& values);

/// What a file is. Formats of tools: docs/scores.md says which of their fields becomes what.
enum class ScoreFormat { csv, tsv, json, promptfoo, inspect, lm_eval, openai_evals, deepeval, mt_bench, verl, nemo_rl, prime_rl, verifiers };
inline constexpr Word<ScoreFormat> score_format_words[] = {
    {ScoreFormat::csv, "csv", "columns separated by commas, semicolons, bars or tabs"},
    {ScoreFormat::tsv, "tsv", "columns separated by tabs"},
    {ScoreFormat::json, "json", "JSON lines, or a list of objects"},
    {ScoreFormat::promptfoo, "promptfoo", "results of `promptfoo eval -o results.json`"},
    {ScoreFormat::inspect, "inspect", "a log of inspect_ai, .eval or .json"},
    {ScoreFormat::lm_eval, "lm-eval", "samples_TASK.jsonl of lm-evaluation-harness"},
    {ScoreFormat::openai_evals, "openai-evals", "events of OpenAI evals"},
    {ScoreFormat::deepeval, "deepeval", "test runs of deepeval; a folder of them: repeats"},
    {ScoreFormat::mt_bench, "mt-bench", "single-answer judgments of FastChat's MT-bench"},
    {ScoreFormat::verl, "verl", "rollouts of verl (rollout_data_dir)"},
    {ScoreFormat::nemo_rl, "nemo-rl", "train_data_stepN.jsonl of NeMo RL"},
    {ScoreFormat::prime_rl, "prime-rl", "traces.jsonl of prime-rl"},
    {ScoreFormat::verifiers, "verifiers", "results.jsonl of a verifiers evaluation"},
};

/// How the score is found in the text of a judge's answer; none: the whole text is the score.
class AnswerPattern;

/// How a file of scores is read.
struct ScoreReading {
  ScoreColumns columns{};
  ScoreScale scale{};
  std::vector<std::string> missing{};  ///< texts and numbers that mean that there is no score: "-1", "no rating"
  IdSpelling ids = IdSpelling::unset;
  std::vector<std::pair<std::string, double>> map{};     ///< words that are scores: C = 1
  std::shared_ptr<const AnswerPattern> parse{};          ///< null: the cell itself is the score
  double round = 0;                                      ///< scores are multiples of it; 0 = as they are
  int bins = 0;                                          ///< so many levels of equal width; 0 = as they are
  char separator = 0;                                    ///< of columns; 0 = found
  std::optional<ScoreFormat> format{};                   ///< nothing = found
};

/// An option beside the columns and the scale. Flag --KEY of commands, key of a rater with `scores` in suites.
struct ReadingOption {
  std::string_view key, type;  ///< type: list (of words and numbers), word, number, string
  std::string_view value;      ///< type of the value in help: "LIST"
  std::string_view help;
  /// Takes it over. Returns what is wrong with it, such as "is \"x\": a number above 0 is wanted"; empty where nothing is.
  std::string (*set)(ScoreReading& how, const std::vector<std::string>& items);
};
std::span<const ReadingOption> reading_options();

/// The score in an answer by `how.parse` (the answer itself where it is null): a view of the answer or of `buffer`. Empty where none is found.
std::string_view score_in(std::string_view answer, const ScoreReading& how, std::string& buffer);

/// By the options `round` and `bins`, the number that a score counts as; `least` and `most` are the ends of the bins.
double rounded_score(double value, const ScoreReading& how, double least, double most);

}  // namespace odrpo
