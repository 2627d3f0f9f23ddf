// Draws the figures of `rollouts analyze`: dead groups over steps, levels over steps, agreement of estimators.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/rollouts/rollout_report.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/output_file.hpp"
#include "kernels/system/terminal.hpp"
#include "results/scores/reading.hpp"

namespace odrpo::app {
namespace {

constexpr FigureSize one_column{3.25, 0}, page_wide{5.5, 0};
constexpr std::size_t most_columns = 100;  // of steps in a figure; neighbours are taken together
constexpr double without_end = std::numeric_limits<double>::quiet_NaN();

/// Neighbouring steps taken together, so that at most most_columns remain.
std::vector<StepCounts> columns_of_steps(const RolloutAnalysis& a) {
  const std::size_t n = std::min(most_columns, a.steps.size());
  std::vector<StepCounts> columns(n);
  for (std::size_t s = 0; s < a.steps.size(); ++s) {
    StepCounts& c = columns[s * n / a.steps.size()];
    const StepCounts& from = a.steps[s];
    if (c.level.empty()) c.step = from.step, c.level.resize(from.level.size());
    c.rows += from.rows, c.compared += from.compared, c.dead += from.dead, c.dead_levels += from.dead_levels * static_cast<double>(from.compared);
    for (std::size_t k = 0; k < from.level.size(); ++k) c.level[k] += from.level[k];
  }
  return columns;
}

std::string together_text(const RolloutAnalysis& a) { return a.steps.size() > most_columns ? fmt::format("; {} steps in {} columns", a.steps.size(), most_columns) : ""; }

Figure dead_figure(const RolloutReport& r) {
  FigurePanel panel;
  panel.x_label = "step", panel.y_label = "share, %", panel.y_from_zero = true;
  FigureSeries groups{"dead groups", {0, 0, 0}, {}}, levels{"dead levels", {1, 1, 1}, {}};
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  for (const StepCounts& s : columns_of_steps(r.analysis)) {
    if (s.compared == 0) continue;
    const double n = static_cast<double>(s.compared), step = static_cast<double>(s.step);
    fewest = std::min(fewest, s.compared);
    groups.points.push_back({step, 100 * static_cast<double>(s.dead) / n, without_end, without_end});
    levels.points.push_back({step, 100 * s.dead_levels / n, without_end, without_end});
  }
  if (groups.points.empty()) fail(Exit::usage, "--figure dead: no group has two rewards, so there is nothing to draw");
  panel.series.push_back(groups);
  if (!r.input.rewards.scale.empty()) panel.series.push_back(levels);
  Figure figure;
  figure.caption = fmt::format("groups of {} whose rewards are all equal, and levels that all or none of a group reach; {} steps, {} groups or more for each point{}", r.input.rollouts.files[0], r.analysis.steps.size(),
                               fewest, together_text(r.analysis));
  figure.panels.push_back(panel);
  return figure;
}

Figure levels_figure(const RolloutReport& r) {
  const std::vector<double>& scale = r.input.rewards.scale;
  if (scale.empty()) fail(Exit::usage, "--figure levels: the rewards have no levels: --round or --bins make some");
  const std::vector<StepCounts> columns = columns_of_steps(r.analysis);
  ValueField field{"share of the step's rewards, %", std::vector<double>(scale.size() * columns.size(), without_end), false, 0};
  for (std::size_t c = 0; c < columns.size(); ++c)
    for (std::size_t k = 0; k < scale.size() && columns[c].rows > 0; ++k) field.value[k * columns.size() + c] = 100.0 * columns[c].level[k] / static_cast<double>(columns[c].rows);
  Figure figure = fields_figure(std::span(&field, 1), columns.size(), columns.size() < r.analysis.steps.size() ? "neighbouring steps, in order" : "step, in order", "level");
  figure.caption = fmt::format("levels 1..{} ({}) of {} rewards of {}, by step ({} to {}){}", scale.size(), scale_text(scale), r.analysis.periods.back().rows - r.analysis.periods.back().missing,
                               r.input.rollouts.files[0], r.analysis.steps.front().step, r.analysis.steps.back().step, together_text(r.analysis));
  return figure;
}

Figure cosine_figure(const RolloutReport& r) {
  const RolloutAnalysis& a = r.analysis;
  const std::size_t n = a.estimators.size();
  if (n < 2) fail(Exit::usage, "--figure cosine: two estimators or more are compared");
  FigurePanel panel;
  panel.kind = PanelKind::heatmap, panel.decimals = 2;
  panel.x_names = a.estimators, panel.y_names = a.estimators;
  for (std::size_t e = 0; e < n; ++e) {
    FigureSeries row{a.estimators[e], {}, {}};
    for (std::size_t f = 0; f < n; ++f) {
      const double cosine = e == f ? 1.0 : a.statistics.cosine[a.pair(std::min(e, f), std::max(e, f))].value;
      row.points.push_back({static_cast<double>(f), cosine, without_end, without_end});
    }
    panel.series.push_back(row);
  }
  Figure figure;
  figure.caption = fmt::format("cosine of the vectors of advantages that two estimators give the same {} groups of {}", a.periods.back().groups, r.input.rollouts.files[0]);
  figure.panels.push_back(panel);
  return figure;
}

}  // namespace

void draw_rollout_figures(const std::vector<FigureRequest<RolloutFigure>>& requests, const RolloutReport& report) {
  for (const FigureRequest<RolloutFigure>& request : requests) {
    const Figure figure = request.kind == RolloutFigure::dead ? dead_figure(report) : request.kind == RolloutFigure::levels ? levels_figure(report) : cosine_figure(report);
    write_output(request.path, draw_figure(figure, request.format, request.kind == RolloutFigure::cosine ? page_wide : one_column));
    print_note(fmt::format("{}: {}", printable_line(request.path), figure.caption));
  }
}

}  // namespace odrpo::app
