// `odrpo-bench judge analyze FILE`: how noisy a real judge is, from a file of repeated scores.
#include <cstdint>

#include "app/command.hpp"
#include "app/judge_analysis.hpp"
#include "app/judge_figures.hpp"
#include "app/output_file.hpp"
#include "app/printable.hpp"
#include "app/score_options.hpp"
#include "app/usage.hpp"

namespace odrpo::app {

int judge_analyze(const JudgeAnalyzeOptions& o) {
  const ScoreReading how = score_reading(o.scores);
  if (!o.output.empty()) check_output(o.output, o.path);
  const std::vector<FigureRequest> figures = figure_requests(o.figures, o.path);
  const auto seed = static_cast<std::uint64_t>(o.seed);
  const ScoreTable table = read_score_table(o.path, how);
  const JudgeAnalysis analysis = analyze_scores(table, printable_line(o.path), o.resamples, seed);
  std::vector<JudgeAnalysis> compare;
  for (const std::string& path : o.compare) compare.push_back(analyze_scores(read_score_table(path, how), printable_line(path), 0, seed));
  draw_judge_figures(figures, table, analysis);
  const std::string text = o.json ? analysis_json(analysis, compare) : analysis_text(analysis, compare);
  if (o.output.empty()) put(text);
  else write_output(o.output, text);
  return static_cast<int>(Exit::ok);
}

}  // namespace odrpo::app
