// Files are read, raters simulated.
#include "app/judge/input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "app/flags/named_rater.hpp"
#include "app/flags/score_options.hpp"
#include "app/judge/worth_of_votes.hpp"
#include "config/catalogue/catalogue.hpp"
#include "config/catalogue/describe.hpp"
#include "config/read/parse.hpp"
#include "config/read/parse_toml.hpp"
#include "config/read/read_file.hpp"
#include "config/spec.hpp"
#include "envs/judge/simulate_scores.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"

namespace odrpo::app {
namespace {

constexpr int paper_prompts = 1000, paper_responses = 8, paper_samples = 16;  // the paper's figures of its judge

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

bool holds_suite(const std::string& path) {
  const std::string text = read_suite_file(path);
  Diagnostics unused(path, text, {});
  Node root;
  parse_toml(text, root, unused);
  return find_child(root, section_of<SuiteHead>()) != nullptr;
}

std::vector<NamedScores> of_suite(const std::string& path, std::uint64_t seed) {
  const Suite suite = load_suite(path, {}, {});
  std::vector<NamedScores> all;
  const RunSpec first = suite.runs.front();
  int votes = 1;
  for (const std::size_t i : suite.runs.first_of_each({GridPart::votes})) votes = std::max(votes, suite.runs[i].votes);
  for (const std::size_t i : suite.runs.first_of_each({GridPart::rater})) {
    const RunSpec run = suite.runs[i];
    if (run.env.kind != WorldKind::bandit)
      throw Failure(Exit::usage, fmt::format("{}: raters are simulated in the bandit, and its world is toy-lm", printable_line(path)));
    const auto named = [&](const NamedScores& other) { return other.name == run.rater_name; };
    if (std::any_of(all.begin(), all.end(), named)) continue;  // the same with other values of an axis
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
  if (path.ends_with(".toml") && holds_suite(path)) return of_suite(path, seed);
  const RaterConfig rater = rater_named(path);
  const int levels = simulated_levels(rater, o.scores.levels);
  return {{printable_line(path), simulate_scores(rater, rated_world(levels, paper_prompts, paper_responses), paper_samples, seed).table,
           worth_of(rater, levels, seed)}};
}

}  // namespace odrpo::app
