// The numbers of a figure as CSV, for those who draw it themselves.
#include <fmt/format.h>

#include "results/scores/csv.hpp"
#include "results/figure/figure.hpp"

namespace odrpo {

std::string figure_csv(const Figure& figure) {
  std::string out = "panel,title,series,x_label,x,x_name,y_label,y,lo,hi,filled,caption\n";
  for (std::size_t p = 0; p < figure.panels.size(); ++p) {
    const FigurePanel& panel = figure.panels[p];
    const bool forest = panel.kind == PanelKind::forest, named = panel.kind == PanelKind::bars || panel.kind == PanelKind::heatmap;
    const auto add = [&](const std::string& series, const FigurePoint& point, const std::string& y_label) {
      const auto line = static_cast<std::size_t>(forest ? point.y : point.x);
      const std::string name = forest && line < panel.y_names.size()  ? panel.y_names[line]
                               : named && line < panel.x_names.size() ? panel.x_names[line]
                                                                      : "";
      // a forest's numbers lie along x
      out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", p + 1, csv_field(panel.title), csv_field(series),
                         csv_field(panel.x_label), exact_text(point.x), csv_field(name), csv_field(y_label),
                         forest ? "" : exact_text(point.y), exact_text(point.lo), exact_text(point.hi),
                         !forest        ? ""
                         : point.filled ? "true"
                                        : "false",
                         csv_field(figure.caption));
    };
    for (const FigureSeries& series : panel.series)
      for (const FigurePoint& point : series.points) add(series.name, point, panel.y_label);
    for (const FigurePoint& point : panel.background) add("", point, panel.background_label);
  }
  return out;
}

}  // namespace odrpo
