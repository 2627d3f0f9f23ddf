// Round numbers for the ticks of an axis.
#include "results/figure/axis_ticks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace odrpo {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void include(NumberRange& range, double value) {
  if (!std::isfinite(value)) return;
  range.from = std::min(range.from, value);
  range.to = std::max(range.to, value);
}

/// "1e+07" as "1e7".
std::string short_exponent(std::string number) {
  const std::size_t sign = number.find('e') + 1;
  if (sign == 0) return number;
  while (number[sign + 1] == '0' && sign + 2 < number.size()) number.erase(sign + 1, 1);
  if (number[sign] == '+') number.erase(sign, 1);
  return number;
}

/// Multiples of a step with as many digits as tell them apart; all of an axis in scientific form where one is very large, or the step very
/// small.
std::vector<std::string> tick_texts(const std::vector<double>& ticks, double step) {
  double largest = 0;
  for (const double tick : ticks) largest = std::max(largest, std::fabs(tick));
  const auto power = [](double x) { return static_cast<int>(std::floor(std::log10(x) + 1e-9)); };
  std::vector<std::string> texts;
  for (const double tick : ticks) {
    if (std::fabs(tick) < 1e-9 * step) texts.emplace_back("0");
    else if (largest < 1e7 && step >= 1e-4) texts.push_back(fmt::format("{:.{}f}", tick, std::max(0, -power(step))));
    else texts.push_back(short_exponent(fmt::format("{:.{}e}", tick, std::max(0, power(std::fabs(tick)) - power(step)))));
  }
  return texts;
}

/// The least of 1, 2, 5 x 10^n of which a span has at most `most`.
double round_step(double span, double most) {
  const double least = span / std::max(most, 1.0), power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

}  // namespace

NumberRange range_of_x(const FigurePanel& panel) {
  NumberRange range{infinity, -infinity};
  for (const FigureSeries& series : panel.series)
    for (const FigurePoint& point : series.points) {
      include(range, point.x);
      if (panel.kind != PanelKind::forest) continue;
      for (const double end : {point.lo, point.hi, 0.0}) include(range, end);
    }
  for (const FigurePoint& point : panel.background) include(range, point.x);
  return range;
}

NumberRange range_of_y(const FigurePanel& panel) {
  NumberRange range{infinity, -infinity, panel.kind == PanelKind::steps || panel.kind == PanelKind::bars || panel.y_from_zero};
  for (const FigureSeries& series : panel.series)
    for (const FigurePoint& point : series.points)
      for (const double y : {point.y, point.lo, point.hi})
        if (y == point.y || panel.kind != PanelKind::heatmap) include(range, y);
  if (range.from_zero) include(range, 0);
  range.whole = panel.kind == PanelKind::steps;
  return range;
}

NumberRange range_of_background(const FigurePanel& panel) {
  NumberRange range{0, 0, true};
  for (const FigurePoint& point : panel.background) include(range, point.y);
  return range;
}

NumberRange range_of_colours(const FigurePanel& panel) {
  if (panel.colour_from < panel.colour_to) return {panel.colour_from, panel.colour_to};
  NumberRange range{infinity, -infinity};
  for (const FigureSeries& series : panel.series)
    for (const FigurePoint& point : series.points) include(range, point.y);
  if (panel.diverging) include(range, 0);
  if (!(range.from <= range.to)) range = {0, 1};
  if (panel.diverging && !(range.from < 0 && range.to > 0)) {
    const double far = std::max(-range.from, range.to);
    return far > 0 ? NumberRange{-far, far} : NumberRange{-1, 1};
  }
  return range.from < range.to ? range : NumberRange{range.from, range.from + 1};
}

FigureAxis axis_of(const NumberRange& range, std::size_t most) {
  NumberRange r = range;
  if (!(r.from <= r.to)) r = {0, 1, true, r.whole};
  if (!(r.to - r.from > 1e-12 * std::max(std::fabs(r.to), std::fabs(r.from)))) {  // one number
    const double half = r.to == 0 ? 1 : 0.05 * std::fabs(r.to);
    r.to += half;
    if (!r.from_zero) r.from -= half;
  }
  const double margin = 0.04 * (r.to - r.from);
  FigureAxis axis{r.from_zero && r.from >= 0 ? 0 : r.from - margin, r.from_zero && r.to <= 0 ? 0 : r.to + margin, {}, {}};
  for (const double finer : {1, 2, 4}) {  // a short axis may lie between two round numbers
    const double round = round_step(axis.to - axis.from, finer * static_cast<double>(most)), step = r.whole ? std::max(round, 1.0) : round;
    axis.ticks.clear();
    for (double n = std::ceil(axis.from / step - 1e-9); n * step <= axis.to + 1e-9 * step && axis.ticks.size() < 100; n += 1)
      axis.ticks.push_back(n * step);
    axis.labels = tick_texts(axis.ticks, step);
    if (axis.ticks.size() >= 2) break;
  }
  return axis;
}

FigureAxis axis_between(const NumberRange& range, std::size_t most) {
  const FigureAxis wider = axis_of(range, most);
  FigureAxis axis{range.from, range.to, {}, {}};
  for (std::size_t i = 0; i < wider.ticks.size(); ++i) {
    if (wider.ticks[i] < range.from || wider.ticks[i] > range.to) continue;
    axis.ticks.push_back(wider.ticks[i]);
    axis.labels.push_back(wider.labels[i]);
  }
  return axis;
}

FigureAxis axis_of_cells(std::size_t count, std::size_t most) {
  FigureAxis axis = axis_between({1, static_cast<double>(count), false, true}, most);
  const double step = axis.ticks.size() > 1 ? axis.ticks[1] - axis.ticks[0] : 1;
  if (axis.ticks.empty() || axis.ticks[0] - 1 > 0.6 * step) {  // the first cell is 1, not 0
    axis.ticks.insert(axis.ticks.begin(), 1);
    axis.labels.insert(axis.labels.begin(), "1");
  }
  axis.from = 0.5;
  axis.to = static_cast<double>(count) + 0.5;
  return axis;
}

FigureAxis axis_at(const std::vector<double>& ticks, const NumberRange& range, bool log) {
  FigureAxis axis{range.from, range.to, ticks, {}};
  if (log) {
    axis.from /= 1.25;
    axis.to *= 1.25;
  } else {
    const double margin = range.to > range.from ? 0.08 * (range.to - range.from) : 1;
    axis.from -= margin;
    axis.to += margin;
  }
  for (const double tick : ticks) axis.labels.push_back(short_exponent(fmt::format("{:g}", tick)));
  return axis;
}

}  // namespace odrpo
