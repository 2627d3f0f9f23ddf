// `odrpo-bench judge analyze INPUT`: how noisy a judge is, from a file of repeated scores or by simulating raters.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "app/command.hpp"
#include "app/judge/analysis.hpp"
#include "app/judge/figures.hpp"
#include "app/judge/input.hpp"
#include "app/output_file.hpp"
#include "app/printable.hpp"
#include "app/flags/score_options.hpp"
#include "app/usage.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo::app {

int judge_analyze(const JudgeAnalyzeOptions& o) {
  score_reading(o.scores);  // flags first
  const bool file = is_score_file(o.path) || std::any_of(o.compare.begin(), o.compare.end(), is_score_file);
  if (const std::string flag = file_flag(o.scores); !file && !flag.empty())
    throw Failure(Exit::usage, fmt::format("{} says how a file of scores is read, and {} is none", flag, printable_line(o.path)));
  if (!o.output.empty()) check_output(o.output, o.path);
  const std::vector<FigureRequest> figures = figure_requests(o.figures, o.path);
  const auto seed = static_cast<std::uint64_t>(o.seed);
  std::vector<NamedScores> inputs = judge_inputs(o.path, o);
  JudgeAnalysis analysis = analyze_scores(inputs[0].table, inputs[0].name, o.resamples, seed);
  analysis.worth = inputs[0].worth;
  if (is_score_file(o.path)) analysis.columns_differ = column_finding(inputs[0].table, o.scores, seed);
  for (const std::string& path : o.compare)
    for (NamedScores& other : judge_inputs(path, o)) inputs.push_back(std::move(other));
  std::vector<JudgeAnalysis> compare;
  for (std::size_t i = 1; i < inputs.size(); ++i) compare.push_back(analyze_scores(inputs[i].table, inputs[i].name, 0, seed));
  draw_judge_figures(figures, inputs[0].table, analysis);
  const std::string text = o.json ? analysis_json(analysis, compare) : analysis_text(analysis, compare);
  if (o.output.empty()) put(text);
  else write_output(o.output, text);
  return static_cast<int>(Exit::ok);
}

}  // namespace odrpo::app
