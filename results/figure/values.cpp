// Figures of values that come from no table: histograms with marks, and fields of many cells.
#include <algorithm>
#include <cmath>
#include <limits>

#include "results/figure/figure.hpp"

namespace odrpo {

Figure values_histogram(std::span<const double> values, double from, double to, int bins, std::vector<FigureMark> marks,
                        const std::string& x_label, const std::string& y_label) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> counts(static_cast<std::size_t>(bins), 0.0);
  for (const double value : values) {
    const double place = (value - from) / (to - from) * bins;
    if (place >= 0 && value <= to) counts[static_cast<std::size_t>(std::min(place + 1e-9, bins - 1.0))] += 1;  // edges belong to the right
  }
  FigurePanel panel;
  panel.kind = PanelKind::steps;
  panel.filled = true;
  panel.x_label = x_label;
  panel.y_label = y_label;
  panel.marks = std::move(marks);
  FigureSeries series{"values", {6, 0, 0}, {{from, 0, nan, nan}}};
  for (int b = 0; b < bins; ++b) series.points.push_back({from + (to - from) * b / bins, counts[static_cast<std::size_t>(b)], nan, nan});
  series.points.push_back({to, 0, nan, nan});
  panel.series.push_back(std::move(series));
  return {"", {std::move(panel)}};
}

Figure fields_figure(std::span<const ValueField> fields, std::size_t columns, const std::string& x_label, const std::string& y_label) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  Figure figure;
  for (const ValueField& field : fields) {
    FigurePanel panel;
    panel.kind = PanelKind::field;
    panel.title = field.title;
    panel.x_label = x_label;
    panel.y_label = y_label;
    panel.diverging = field.diverging;
    panel.colour_from = field.from;
    panel.colour_to = field.to;
    for (std::size_t r = 0; (r + 1) * columns <= field.value.size(); ++r) {
      FigureSeries series{std::to_string(r + 1), {}, {}};
      for (std::size_t c = 0; c < columns; ++c)
        series.points.push_back({static_cast<double>(c + 1), field.value[r * columns + c], nan, nan});
      panel.series.push_back(std::move(series));
    }
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

}  // namespace odrpo
