// Histogram of W, and heat maps of what each response's scores look like.
#include "app/judge/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/plot/figure_format.hpp"
#include "app/output_file.hpp"
#include "app/printable.hpp"
#include "app/usage.hpp"
#include "envs/judge/agreement/agreement.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/shared/suggest.hpp"

namespace odrpo::app {
namespace {

constexpr FigureSize column{3.25, 0}, whole_page{5.5, 0};
constexpr std::size_t most_prompts = 1000, most_responses = 64;  // of a heat map: more than the dots of a printed page
constexpr int bins = 40;
constexpr Word<JudgeFigure> kinds[] = {
    {JudgeFigure::kendall, "kendall", "histogram of Kendall's W over prompts"},
    {JudgeFigure::rows, "rows", "heat maps of mean, sd, skewness and excess kurtosis of each response's scores"},
};

Figure kendall_figure(const JudgeAnalysis& a) {
  const std::vector<double>& w = a.sums.w.value;
  if (w.empty()) throw Failure(Exit::usage, "--figure kendall: Kendall's W is undefined for every prompt, so there is nothing to draw");
  const double median = a.at("w_median").value, floor = a.at("floor").value;
  std::vector<FigureMark> marks = {{median, fmt::format("median {:.3f}", median)}, {floor, ""}};
  if (median - floor > 0.35) marks[1].text = fmt::format("chance {:.3f}", floor);
  Figure figure = values_histogram(w, 0, 1, bins, marks, "Kendall's W", "prompts");
  figure.caption = fmt::format(
      "Kendall's W of {} prompts of {} ({} undefined); solid line: median {:.3f}, dashed: {:.3f}, 1 / calls, which "
      "chance alone gives",
      w.size(), a.file, a.prompts - static_cast<std::int64_t>(w.size()), median, floor);
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

std::vector<FigureRequest> figure_requests(const std::vector<std::string>& words, const std::string& input) {
  std::vector<FigureRequest> requests;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals), path = equals == std::string::npos ? "" : word.substr(equals + 1);
    const auto kind = find_word<JudgeFigure>(kinds, name);
    if (!kind) {
      std::vector<std::string_view> names;
      for (const auto& k : kinds) names.push_back(k.word);
      throw Failure(Exit::usage, fmt::format("--figure: there is no figure \"{}\" (it is one of {}){}", printable_line(name), one_of(names),
                                             did_you_mean(name, names)));
    }
    if (path.empty()) throw Failure(Exit::usage, fmt::format("--figure {0}: a file must follow, as {0}=FILE.svg", printable_line(name)));
    for (const FigureRequest& other : requests)
      if (other.path == path) throw Failure(Exit::usage, fmt::format("--figure: two figures would go to \"{}\"", printable_line(path)));
    requests.push_back({*kind, path, figure_format("--figure " + name, path)});
    check_output(path, input);
  }
  return requests;
}

void draw_judge_figures(std::span<const FigureRequest> requests, const ScoreTable& table, const JudgeAnalysis& analysis) {
  for (const FigureRequest& request : requests) {
    const bool kendall = request.kind == JudgeFigure::kendall;
    const Figure figure = kendall ? kendall_figure(analysis) : rows_figure(table, analysis);
    write_output(request.path, draw_figure(figure, request.format, kendall ? column : whole_page));
    print_note(fmt::format("{}: {}", printable_line(request.path), figure.caption));
  }
}

}  // namespace odrpo::app
