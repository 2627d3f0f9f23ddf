// `odrpo-bench judge simulate RATER`: scores as that rater gives them in training, as a file.
#include <fmt/format.h>

#include <filesystem>

#include "app/command.hpp"
#include "app/flags/named_rater.hpp"
#include "envs/judge/simulate_scores.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/output_file.hpp"
#include "kernels/system/terminal.hpp"
#include "results/scores/write_scores.hpp"

namespace odrpo::app {
namespace {

constexpr double most_scores = 1e8;  // 600 MB

}  // namespace

int judge_simulate(const JudgeSimulateOptions& o) {
  const RaterConfig rater = rater_named(o.rater);
  if (rater.text != TextJudge{})
    throw Failure(Exit::usage,
                  fmt::format("rater {} looks at the text of responses, and simulated responses have none", printable_line(o.rater)));
  const int levels = simulated_levels(rater, o.levels);
  const std::string ending = std::filesystem::path(o.output).extension().string();
  if (!ending.empty() && ending != ".csv" && ending != ".tsv" && ending != ".jsonl" && ending != ".ndjson" && ending != ".txt")
    throw Failure(Exit::usage, fmt::format("-o {}: scores are written as .csv, .tsv or .jsonl", printable_line(o.output)));
  if (!o.output.empty()) check_output(o.output, o.rater);
  const double scores = static_cast<double>(o.prompts) * o.responses * o.samples;
  if (scores > most_scores)
    throw Failure(Exit::limits,
                  fmt::format("{:.3g} scores are more than the {:.0e} that are simulated at a time: fewer --prompts, --responses or "
                              "--samples, or several seeds",
                              scores, most_scores));
  SimulatedScores made = simulate_scores(rater, rated_world(levels, o.prompts, o.responses), o.samples, static_cast<std::uint64_t>(o.seed));
  if (o.truth)
    for (std::size_t r = 0; r < made.quality.size(); ++r) made.table.responses[r].gold = made.quality[r];
  const std::string comment =
      fmt::format("odrpo-bench judge simulate {} --prompts {} --responses {} --samples {} --levels {} --seed {}{}", printable_line(o.rater),
                  o.prompts, o.responses, o.samples, levels, o.seed, o.truth ? " --truth" : "");
  if (o.output.empty()) {
    write_scores(made.table, ScoreFormat::csv, comment, put);
    return static_cast<int>(Exit::ok);
  }
  OutputFile file(o.output);
  write_scores(made.table, score_format(o.output), comment, [&](std::string_view text) { file.write(text); });
  file.commit();
  return static_cast<int>(Exit::ok);
}

}  // namespace odrpo::app
