// Measures how noisy a judge is, from a file of repeated scores or by simulating raters: `odrpo-bench judge analyze INPUT`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/command.hpp"
#include "app/flags/flag_values.hpp"
#include "app/judge/analysis.hpp"
#include "app/plot/plot.hpp"
#include "envs/judge/agreement/agreement.hpp"
#include "kernels/shared/score_table.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/output_file.hpp"
#include "kernels/system/terminal.hpp"
#include "results/figure/figure.hpp"

namespace odrpo::app {

// Draws the figures of `judge analyze`.

enum class JudgeFigure { kendall, rows };

/// Draws each figure into its file, and prints its caption on stderr. Failure `io` if a file cannot be written.
void draw_judge_figures(std::span<const FigureRequest<JudgeFigure>> requests, const ScoreTable& table, const JudgeAnalysis& analysis);

namespace {

constexpr FigureSize column{3.25, 0}, whole_page{5.5, 0};
constexpr std::size_t most_prompts = 1000, most_responses = 64;  // most columns and rows of a heat map; a printed page could not show more
constexpr int bins = 40;
constexpr double stable_w = 0.9;  // the paper's conjecture: a stable reward needs a judge with W >= .9
constexpr Word<JudgeFigure> kinds[] = {
    {JudgeFigure::kendall, "kendall", "histogram of Kendall's W over prompts"},
    {JudgeFigure::rows, "rows", "heat maps of mean, sd, skewness and excess kurtosis of each response's scores"},
};

Figure kendall_figure(const JudgeAnalysis& a) {
  const std::vector<double>& w = a.sums.w.value;
  if (w.empty()) fail(Exit::usage, "--figure kendall: Kendall's W is undefined for every prompt, so there is nothing to draw");
  const double median = a.at("w_median").value, floor = a.at("floor").value;
  std::vector<FigureMark> marks = {{median, fmt::format("median {:.3f}", median)}, {floor, ""}, {stable_w, ""}};
  if (median - floor > 0.35) marks[1].text = fmt::format("chance {:.3f}", floor);
  if (stable_w - median > 0.03) marks[2].text = fmt::format("{:.1f}", stable_w);
  Figure figure = values_histogram(w, 0, 1, bins, marks, "Kendall's W", "prompts");
  figure.caption = fmt::format(
      "Kendall's W of {} prompts of {} ({} undefined); solid line: median {:.3f}, dashed: {:.3f}, 1 / calls, which "
      "chance alone gives, dotted: {:.1f}, which a stable reward needs by the paper's conjecture; {:.1f} % of the prompts reach it",
      w.size(), a.file, a.prompts - static_cast<std::int64_t>(w.size()), median, floor, stable_w,
      100.0 * static_cast<double>(std::count_if(w.begin(), w.end(), [](double one) { return one >= stable_w; })) / static_cast<double>(w.size()));
  return figure;
}

Figure rows_figure(const ScoreTable& table, const JudgeAnalysis& a) {
  const std::size_t prompts = std::min(table.prompts.size(), most_prompts);
  std::size_t most = 0;
  for (const auto& p : table.prompts) most = std::max<std::size_t>(most, p.count);
  const std::size_t responses = std::min(most, most_responses);
  const double levels = std::max(table.levels(), 2);
  ValueField fields[] = {
      {"mean, levels", {}, false, 1, levels}, {"standard deviation, levels"}, {"skewness", {}, true}, {"excess kurtosis", {}, true}};
  for (ValueField& field : fields) field.value.assign(prompts * responses, std::nan(""));
  std::vector<double> scores;
  for (std::size_t c = 0; c < prompts; ++c) {
    const auto of = table.responses_of(table.prompts[c * table.prompts.size() / prompts]);
    for (std::size_t r = 0; r < std::min(of.size(), responses); ++r) {
      scores.clear();
      for_each_score(table, of[r], [&](int k, std::uint32_t) { scores.push_back(k); });
      if (scores.size() < 2) continue;
      const RowStats s = row_stats(scores, 1);
      const double value[] = {s.mean, s.std, s.skew, s.exkurt};
      for (std::size_t i = 0; i < std::size(fields); ++i) fields[i].value[r * prompts + c] = value[i];
    }
  }
  Figure figure = fields_figure(fields, prompts, prompts < table.prompts.size() ? "prompt (evenly chosen)" : "prompt", "response");
  figure.caption = fmt::format(
      "scores of each response of {}: mean, standard deviation (ddof 1), skewness and excess kurtosis; {} of {} prompts, "
      "{} of up to {} responses; grey: undefined, fewer than two scores or, of the shape, no spread",
      a.file, prompts, table.prompts.size(), responses, most);
  return figure;
}

}  // namespace

void draw_judge_figures(std::span<const FigureRequest<JudgeFigure>> requests, const ScoreTable& table, const JudgeAnalysis& analysis) {
  for (const FigureRequest<JudgeFigure>& request : requests) {
    const bool kendall = request.kind == JudgeFigure::kendall;
    const Figure figure = kendall ? kendall_figure(analysis) : rows_figure(table, analysis);
    write_output(request.path, draw_figure(figure, request.format, kendall ? column : whole_page));
    print_note(fmt::format("{}: {}", printable_line(request.path), figure.caption));
  }
}

std::vector<std::string_view> judge_figures() { return words_in(kinds); }

int judge_analyze(const JudgeAnalyzeOptions& o) {
  score_reading(o.scores);  // throws for invalid flags, before any file is read
  const bool file = is_score_file(o.path) || std::any_of(o.compare.begin(), o.compare.end(), is_score_file);
  if (const std::string flag = file_flag(o.scores); !file && !flag.empty())
    fail(Exit::usage, "{} says how a file of scores is read, and {} is none", flag, o.path);
  if (o.samples > 0 && is_score_file(o.path) && std::all_of(o.compare.begin(), o.compare.end(), is_score_file))
    fail(Exit::usage, "--samples says how often a rater is called, and {} is a file of scores", o.path);
  if (!o.output.empty()) check_output(o.output, o.path);
  const auto figures = figure_requests(kinds, o.figures, {o.path});
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
