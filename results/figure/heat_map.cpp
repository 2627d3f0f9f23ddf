// Writes gnuplot's commands for a field of many cells: one image and its colour scale.
#include <fmt/format.h>

#include <cmath>

#include "results/figure/parts.hpp"

namespace odrpo {
namespace {

/// How many pixels of the image each cell of the heat map gets. Viewers of SVG and PDF smooth an enlarged image; with many pixels per cell
/// they blur only the edges of cells.
struct Repeats {
  std::size_t across, up;
};
Repeats repeats_of(const FigurePanel& panel) {
  const auto to_reach = [](std::size_t dots, std::size_t cells) { return cells == 0 ? 1 : (dots + cells - 1) / cells; };
  return {to_reach(1000, panel.series.empty() ? 0 : panel.series[0].points.size()), to_reach(100, panel.series.size())};
}

}  // namespace

std::string palette_commands(bool diverging, const NumberRange& range) {
  if (!diverging) return "set palette defined (0 \"#440154\", 0.25 \"#3B528B\", 0.5 \"#21918C\", 0.75 \"#5EC962\", 1 \"#FDE725\")\n";
  return fmt::format("set palette defined ({} \"#053061\", {} \"#0072B2\", 0 \"#FFFFFF\", {} \"#D55E00\", {} \"#67000D\")\n", range.from,
                     0.5 * range.from, 0.5 * range.to, range.to);
}

std::string field_cells(const FigurePanel& panel) {
  const Repeats repeats = repeats_of(panel);
  std::string cells;
  for (const FigureSeries& series : panel.series) {
    std::string line;
    for (const FigurePoint& point : series.points)
      for (std::size_t i = 0; i < repeats.across; ++i) line += std::isfinite(point.y) ? fmt::format("{:.6g} ", point.y) : "NaN ";
    for (std::size_t i = 0; i < repeats.up; ++i) cells += line + '\n';
  }
  return cells;
}

std::string field_commands(const FigurePanel& panel, const FigureAxis& colours, const ColourBar& bar, const std::string& name) {
  const NumberRange range = range_of_colours(panel);
  std::string out = fmt::format(
      "set border 0\nset tics scale 0\nset object 7000 rectangle from graph 0,0 to graph 1,1 behind fc rgb \"#BDBDBD\" fs solid noborder\n"
      "set cbrange [{}:{}]\n{}set colorbox user origin screen {:.5f},{:.5f} size screen {:.5f},{:.5f} noborder\nset cbtics (",
      range.from, range.to, palette_commands(panel.diverging, range), bar.left, bar.bottom, bar.width, bar.height);
  for (std::size_t i = 0; i < colours.ticks.size(); ++i)
    out += fmt::format("{}\"{}\" {}", i == 0 ? "" : ", ", colours.labels[i], colours.ticks[i]);
  const Repeats repeats = repeats_of(panel);
  return out + fmt::format(") offset -0.6,0 scale 0\nplot {0} matrix using (($1+.5)/{1}+.5):(($2+.5)/{2}+.5):3 with image notitle\n", name,
                           repeats.across, repeats.up);
}

}  // namespace odrpo
