// Which figures a page has, and what is said where one cannot be drawn.
#include "app/report/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "app/plot/series_style.hpp"
#include "kernels/shared/failure.hpp"
#include "results/scores/csv.hpp"
#include "results/figure/figure.hpp"

namespace odrpo::app {
namespace {

constexpr std::size_t most_steps = 100;                           // of a curve: more than dots of a line on a page
constexpr std::size_t fewest_steps = 5;                           // of a curve: less is a value before and after
constexpr double one_panel = 5.5, more_panels = 7.2, zoom = 1.3;  // inches as drawn; text of 10 pixels becomes 13

bool has_numbers(const std::vector<std::string>& names) {
  return names.size() > 1 && std::all_of(names.begin(), names.end(), [](const std::string& name) { return number_of(name).has_value(); });
}

}  // namespace

void add_figures(HtmlPage& page, const ResultFile& file, const TableQuery& q) {
  bool can_draw = true;
  const auto add = [&](const std::string& title, const std::function<Figure()>& make) {
    if (!can_draw) return;
    try {
      const Figure figure = make();
      const std::string svg = draw_figure(figure, FigureFormat::svg, {figure.panels.size() > 1 ? more_panels : one_panel, 0});
      page.figures.push_back({title, figure.caption, inline_svg(svg, fmt::format("f{}-", page.figures.size() + 1), title, zoom)});
    } catch (const Failure& failure) {
      can_draw = failure.code != Exit::io;  // without gnuplot, none
      page.figure_notes.push_back(can_draw ? fmt::format("{}: not drawn: {}", title, failure.what()) : failure.what());
    }
  };
  const auto styles = [](const TableModel& table) { return series_styles(table.rows); };
  add("Learning curves", [&] {
    const TableModel table = query_curve(file, q, "", most_steps);
    const Figure figure = lines_figure({&table, 1}, styles(table), true);
    std::size_t steps = 0;
    for (const FigurePanel& panel : figure.panels)
      for (const FigureSeries& series : panel.series) steps = std::max(steps, series.points.size());
    if (steps < fewest_steps)
      throw Failure(Exit::usage, fmt::format("a run has {} recorded steps, and a curve needs {}", steps, fewest_steps));
    return figure;
  });
  for (const TableModel& table : page.tables) {
    const bool several = table.spec.over_values();
    if (!several && has_numbers(table.columns))
      add(fmt::format("{} by {}", value_text(table.values[0]), table.spec.columns), [&] {
        return lines_figure({&table, 1}, styles(table), false);
      });
    else if (!several)
      add(fmt::format("{} by {}", value_text(table.values[0]), table.spec.columns), [&] { return bars_figure(table, styles(table)); });
    if (table.spec.compares())
      add(fmt::format("{}: differences from the baseline", several ? "All values" : value_text(table.values[0])),
          [&] { return forest_figure(table, styles(table)); });
  }
}

}  // namespace odrpo::app
