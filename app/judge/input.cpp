// Reads the files or simulates the raters that `judge analyze` is given. Also `odrpo-bench judge simulate`.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/command.hpp"
#include "app/flags/flag_values.hpp"
#include "app/judge/analysis.hpp"
#include "app/judge/sentences.hpp"
#include "config/catalogue/catalogue.hpp"
#include "config/catalogue/describe.hpp"
#include "config/read/parse.hpp"
#include "config/read/parse_toml.hpp"
#include "config/read/read_file.hpp"
#include "config/spec.hpp"
#include "envs/judge/simulate_scores.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/output_file.hpp"
#include "kernels/system/terminal.hpp"
#include "results/scores/score_file.hpp"

namespace odrpo::app {
namespace {

constexpr int paper_prompts = 1000, paper_responses = 8, paper_samples = 16;  // the paper's figures of its judge

bool holds_suite(const std::string& path) {
  const std::string text = read_suite_file(path);
  Diagnostics unused(path, text, {});
  Node root;
  parse_toml(text, root, unused);
  return find_child(root, section_of<SuiteHead>()) != nullptr;
}

std::vector<NamedScores> of_suite(const std::string& path, int samples, std::uint64_t seed) {
  const Suite suite = load_suite(path, {}, {});
  std::vector<NamedScores> all;
  const RunSpec first = suite.runs.front();
  int votes = std::max(samples, 1);
  if (samples == 0)
    for (const std::size_t i : suite.runs.first_of_each({GridPart::votes})) votes = std::max(votes, suite.runs[i].votes);
  for (const std::size_t i : suite.runs.first_of_each({GridPart::rater})) {
    const RunSpec run = suite.runs[i];
    if (run.env.kind != WorldKind::bandit) fail(Exit::usage, "{}: raters are simulated in the bandit, and its world is toy-lm", path);
    const auto named = [&](const NamedScores& other) { return other.name == run.rater_name; };
    if (std::any_of(all.begin(), all.end(), named)) continue;  // the same rater with other values of an axis
    all.push_back(
        {run.rater_name, simulate_scores(run.rater, run.env.bandit, votes, seed).table, worth_of(run.rater, run.env.bandit.levels, seed)});
  }
  return all;
}

}  // namespace

bool is_score_file(const std::string& path) {
  return !path.ends_with(".toml") && (exists(path) || !CatalogueOf<RaterConfig>::find(path).has_value());
}

std::vector<NamedScores> judge_inputs(const std::string& path, const JudgeAnalyzeOptions& o) {
  if (is_score_file(path)) return {{printable_line(path), read_score_table(path, score_reading(o.scores)), {}}};
  const auto seed = static_cast<std::uint64_t>(o.seed);
  if (path.ends_with(".toml") && holds_suite(path)) return of_suite(path, o.samples, seed);
  const RaterConfig rater = rater_named(path);
  const int levels = simulated_levels(rater, o.scores.levels);
  return {{printable_line(path), simulate_scores(rater, rated_world(levels, paper_prompts, paper_responses), o.samples > 0 ? o.samples : paper_samples, seed).table,
           worth_of(rater, levels, seed)}};
}

// `odrpo-bench judge simulate RATER`: scores as that rater gives them in training, as a file.

namespace {

constexpr double most_scores = 1e8;  // 600 MB

}  // namespace

int judge_simulate(const JudgeSimulateOptions& o) {
  const RaterConfig rater = rater_named(o.rater);
  if (rater.text != TextJudge{}) fail(Exit::usage, "rater {} looks at the text of responses, and simulated responses have none", o.rater);
  const int levels = simulated_levels(rater, o.levels);
  const auto format = format_by_name(o.output);
  if (!format && std::filesystem::path(o.output).has_extension()) fail(Exit::usage, "-o {}: scores are written as .csv, .tsv or .jsonl", o.output);
  if (!o.output.empty()) check_output(o.output, o.rater);
  const double scores = static_cast<double>(o.prompts) * o.responses * o.samples;
  if (scores > most_scores)
    fail(Exit::limits,
         "{:.3g} scores are more than the {:.0e} that are simulated at a time: fewer --prompts, --responses or "
         "--samples, or several seeds",
         scores, most_scores);
  SimulatedScores made = simulate_scores(rater, rated_world(levels, o.prompts, o.responses), o.samples, static_cast<std::uint64_t>(o.seed));
  if (o.truth)
    for (std::size_t r = 0; r < made.quality.size(); ++r) made.table.responses[r].gold = made.quality[r];
  const std::string command =
      fmt::format("odrpo-bench judge simulate {} --prompts {} --responses {} --samples {} --levels {} --seed {}{}", printable_line(o.rater),
                  o.prompts, o.responses, o.samples, levels, o.seed, o.truth ? " --truth" : "");
  if (o.output.empty()) {
    write_scores(made.table, ScoreFormat::csv, put);
    return static_cast<int>(Exit::ok);
  }
  OutputFile file(o.output);
  write_scores(made.table, format.value_or(ScoreFormat::csv), [&](std::string_view text) { file.write(text); });
  file.commit();
  write_output(o.output + ".made-by.txt", command + '\n');
  return static_cast<int>(Exit::ok);
}

}  // namespace odrpo::app
