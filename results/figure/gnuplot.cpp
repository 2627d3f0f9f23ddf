// Runs gnuplot on a script and returns the figure. Writes the numbers of a figure as CSV.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/process.hpp"
#include "kernels/system/text.hpp"
#include "results/figure/figure.hpp"
#include "results/figure/parts.hpp"
#include "results/scores/csv.hpp"

namespace odrpo {
namespace {

[[noreturn]] void cannot_draw(const std::string& why) { throw Failure(Exit::io, "cannot draw the figure: " + why); }

/// The last line of gnuplot's messages that is not blank; it states the error.
std::string reason(const std::string& messages) {
  std::string last;
  for (const std::string& line : lines_of(messages))
    if (line.find_first_not_of(" \t") != line.npos) last = line;
  return last.empty() ? "gnuplot did not succeed" : "gnuplot: " + printable_text(last);
}

}  // namespace

std::string draw_figure(const Figure& figure, FigureFormat format, FigureSize size) {
  // -d: ignores the user's settings; -: reads the script from stdin
  const Command command{find_program("gnuplot"), {"gnuplot", "-d", "-"}, own_environment()};
  std::string bytes;
  try {
    Process gnuplot("gnuplot", command, {});
    const ProcessEnd end = gnuplot.finish([&](std::string_view more) { bytes += more; }, "the figure", figure_script(figure, format, size));
    if (!end.good() || bytes.empty()) cannot_draw(reason(gnuplot.errors()));
  } catch (const StartFailure& failure) {
    if (failure.error != ENOENT) cannot_draw(std::string("gnuplot does not start: ") + std::strerror(failure.error));
    cannot_draw("gnuplot is not there (Debian: apt-get install gnuplot-nox); --data writes the numbers without it");
  }
  return bytes;
}

// The numbers of a figure as CSV, for users who draw it themselves.

std::string figure_csv(const Figure& figure) {
  std::string out = "panel,title,series,x_label,x,x_name,y_label,y,lo,hi,filled,caption\n";
  for (std::size_t p = 0; p < figure.panels.size(); ++p) {
    const FigurePanel& panel = figure.panels[p];
    const bool forest = panel.kind == PanelKind::forest, named = panel.kind == PanelKind::bars || panel.kind == PanelKind::heatmap;
    const auto add = [&](const std::string& series, const FigurePoint& point, const std::string& y_label) {
      const auto line = static_cast<std::size_t>(forest ? point.y : point.x);
      std::string heading;
      for (std::size_t l = 0; forest && l < std::min(line, panel.y_names.size()); ++l)
        if (is_heading(panel, l)) heading = ", " + panel.y_names[l];
      const std::string name = forest && line < panel.y_names.size()  ? panel.y_names[line] + heading
                               : named && line < panel.x_names.size() ? panel.x_names[line]
                                                                      : "";
      // in a forest, the numbers are along x, and y is only the line
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
