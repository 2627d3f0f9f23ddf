// Arranges panels in a grid, with space for tick labels, titles and a key. Finds round numbers for the ticks of axes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "kernels/shared/utf8.hpp"
#include "kernels/system/fail.hpp"
#include "results/figure/parts.hpp"

namespace odrpo {
namespace {

constexpr double character = 0.57 * point_size / 72;  // mean width of a letter of a wide sans-serif font, in inches
constexpr double line = 1.4 * point_size / 72;
constexpr double least_scale = 0.5;  // smallest allowed height, as a fraction of the default height of panels
constexpr double least_axes = 0.4;   // smallest width of the axes of a panel
constexpr double gap = 0.06;         // between ticks and labels, and between labels and page
constexpr double tilt = 0.72;        // width and height that a tilted text takes, as a fraction of its length
constexpr double key_line = 0.36;    // width of the line in front of a name in the key, with its gap

double longest(const std::vector<std::string>& texts) {
  double width = 0;
  for (const std::string& text : texts) width = std::max(width, text_width(text));
  return width;
}

/// How much space is around the axes of a panel, how high the axes are (`body`), and the axes with their ticks.
struct Room {
  double left, right, top, bottom, body;
  bool tilted = false, wrapped = false, wrapped_label = false;
  FigureAxis x, y, background;
};

bool has_names(const FigurePanel& panel) {
  return panel.kind == PanelKind::forest || panel.kind == PanelKind::heatmap || panel.kind == PanelKind::ridges;
}

/// The names left of a panel's axis: all but the headings of a forest, which may reach into the axes. `wrapped`: in two lines each.
std::vector<std::string> names_beside(const FigurePanel& panel, bool wrapped) {
  std::vector<std::string> names;
  for (std::size_t line = 0; line < panel.y_names.size(); ++line) {
    if (is_heading(panel, line)) continue;
    const auto halves = two_lines(panel.y_names[line]);
    if (!wrapped) names.push_back(panel.y_names[line]);
    else names.push_back(text_width(halves.first) > text_width(halves.second) ? halves.first : halves.second);
  }
  return names;
}

/// Makes a numeric x axis with so few ticks that their labels do not touch; `length` is in inches.
FigureAxis x_axis(const Figure& figure, const FigurePanel& panel, double length) {
  const NumberRange range = common_range(figure, panel, range_of_x);
  if (!panel.x_ticks.empty()) return axis_at(panel.x_ticks, range, panel.log_x);
  for (std::size_t most = 8; most > 1; --most)
    if (FigureAxis axis = axis_of(range, most);
        longest(axis.labels) + 0.1 < length / static_cast<double>(std::max<std::size_t>(axis.ticks.size(), 2) - 1))
      return axis;
  return axis_of(range, 1);
}

/// The space left of the axes, at least `left`, with which tilted names, which end below their columns, begin on the panel. `right` is where the axes end.
double left_of_tilted(const FigurePanel& panel, double left, double right) {
  const auto count = static_cast<double>(panel.x_names.size());
  double least = left;
  for (std::size_t i = 0; i < panel.x_names.size(); ++i) {
    const double at = (static_cast<double>(i) + 0.5) / count;  // left + at (right - left) = gap + extent
    const double extent = tilt * std::min(text_width(panel.x_names[i]), tilted_columns * character);
    least = std::max(least, (gap + extent - at * right) / (1 - at));
  }
  return std::min(least, std::max(left, right - least_axes));
}

Room room_of(const Figure& figure, const FigurePanel& panel, double width) {
  Room room{};
  const double most_names = panel.kind == PanelKind::forest ? 0.45 : panel.kind == PanelKind::ridges ? 0.3 : 1;  // two lines of a ridge cost no height
  room.wrapped = longest(names_beside(panel, false)) > most_names * width;
  room.body = panel.kind == PanelKind::forest    ? (room.wrapped ? 0.27 : 0.16) * static_cast<double>(panel.y_names.size()) + 0.08
              : panel.kind == PanelKind::ridges  ? 0.3 * static_cast<double>(panel.y_names.size())
              : panel.kind == PanelKind::heatmap ? 0.21 * static_cast<double>(panel.y_names.size())
              : panel.kind == PanelKind::field   ? std::clamp(0.1 * static_cast<double>(panel.series.size()), 0.6, 1.4)
                                                 : std::clamp(0.66 * (width - 0.7), 1.0, 2.2);
  const auto most = static_cast<std::size_t>(std::clamp(room.body / 0.24, 2.0, 8.0));
  room.y = axis_of(common_range(figure, panel, range_of_y), panel.kind == PanelKind::heatmap ? std::min<std::size_t>(most, 4) : most);
  room.background = axis_of(range_of_background(panel), most);
  if (panel.kind == PanelKind::field) {
    room.y = axis_of_cells(panel.series.size(), most);
    room.background = axis_between(range_of_colours(panel), std::min<std::size_t>(most, 5));
  }
  room.right = panel.kind == PanelKind::field     ? 0.3 + std::max(longest(room.background.labels), text_width("-0.5"))
               : panel.kind == PanelKind::heatmap ? 0.28 + longest(room.y.labels) + line
               : panel.background.empty()         ? 0.14
                                                  : 2 * gap + longest(room.background.labels) + line;
  room.left = gap + (has_names(panel) ? std::min({longest(names_beside(panel, room.wrapped)) + 2 * gap, 0.65 * width, width - room.right - least_axes - gap})
                                      : line + longest(room.y.labels) + gap);
  room.wrapped_label = !has_names(panel) && columns_of(panel.y_label) > columns_along(room.body);
  if (room.wrapped_label) room.left += line;
  const double axes = std::max(width - room.left - room.right, least_axes);
  if (panel.kind == PanelKind::field) room.x = axis_of_cells(panel.series.empty() ? 1 : panel.series[0].points.size(), 8);
  else if (panel.x_names.empty()) room.x = x_axis(figure, panel, axes);
  room.top = panel.title.empty() && panel.marks.empty() ? 0.09 : 1.5 * line;
  room.bottom = line + (panel.x_label.empty() ? 0 : 1.1 * line);
  if (!panel.x_names.empty() && longest(panel.x_names) > 0.95 * axes / static_cast<double>(panel.x_names.size())) {
    room.tilted = true;
    room.bottom += tilt * std::min(longest(panel.x_names), tilted_columns * character) - 0.3 * line;
    room.left = left_of_tilted(panel, room.left, width - room.right);
  }
  return room;
}

/// The width in inches that all cells of a heat map need for their numbers; 0 for other panels.
double cells_width(const FigurePanel& panel) {
  return panel.kind == PanelKind::heatmap ? (number_width(panel) + 0.06) * static_cast<double>(panel.x_names.size()) : 0;
}

/// Number of panels side by side: as many as leave space for names, numbers and titles.
std::size_t grid_columns(const Figure& figure, double width) {
  const auto& panels = figure.panels;
  if (width < 4.5 || panels.size() == 1 || panels[0].kind == PanelKind::field) return 1;
  double names = 0, titles = 0;
  for (const FigurePanel& panel : panels) {
    if (has_names(panel)) names = std::max(names, longest(names_beside(panel, false)) + std::max(cells_width(panel) + 0.75, 0.22 * width));
    titles = std::max(titles, text_width(panel.title) + 0.1);
  }
  if (names > 0.5 * width || titles > 0.5 * width) return 1;
  if (figure.together > 1 || names > 0 || titles > width / 3) return 2;
  return panels.size() == 3 || panels.size() > 4 ? 3 : 2;
}

/// The lines of the key (legend): the first series of each name, over all panels that do not name their lines themselves.
std::vector<const FigureSeries*> key_entries(const Figure& figure) {
  std::vector<const FigureSeries*> entries;
  for (const FigurePanel& panel : figure.panels) {
    if (has_names(panel) || panel.kind == PanelKind::field) continue;
    for (const FigureSeries& series : panel.series)
      if (std::none_of(entries.begin(), entries.end(), [&](const FigureSeries* e) { return e->name == series.name; }))
        entries.push_back(&series);
  }
  if (entries.size() == 1) entries.clear();
  return entries;
}

}  // namespace

double text_width(const std::string& text) { return character * static_cast<double>(columns_of(text)); }

std::pair<std::string, std::string> two_lines(const std::string& name) {
  std::size_t best = std::min(name.rfind('('), name.size());
  const auto longer = [&](std::size_t at) { return std::max(at, name.size() - at); };
  for (std::size_t at = 1; at < name.size() && name.find('(') == std::string::npos; ++at)
    if (std::string_view(" ,-").find(name[at - 1]) != std::string_view::npos && longer(at) < longer(best)) best = at;
  return {name.substr(0, best), name.substr(best)};
}

bool is_heading(const FigurePanel& panel, std::size_t line) {
  return panel.kind == PanelKind::forest && std::none_of(panel.series.begin(), panel.series.end(), [&](const FigureSeries& series) {
           return std::any_of(series.points.begin(), series.points.end(), [&](const FigurePoint& p) { return p.y == static_cast<double>(line); });
         });
}

double number_width(const FigurePanel& panel) {
  double width = 0;
  for (const FigureSeries& series : panel.series)
    for (const FigurePoint& point : series.points) width = std::max(width, text_width(fmt::format("{:.{}f}", point.y, panel.decimals)));
  return width;
}

FigureLayout layout_of(const Figure& figure, FigureSize size) {
  FigureLayout layout{size.width, 0, {}, {}};
  const std::size_t columns = std::min(grid_columns(figure, size.width), figure.panels.size());
  const double width = size.width / static_cast<double>(columns);
  std::vector<Room> rooms;
  for (const FigurePanel& panel : figure.panels) rooms.push_back(room_of(figure, panel, width));

  const auto entries = key_entries(figure);
  double widest = 0;
  for (const FigureSeries* entry : entries) widest = std::max(widest, text_width(entry->name));
  const double entry_width = key_line + 0.16 + widest;
  const std::size_t most = std::max<std::size_t>(entries.size(), 1);
  const std::size_t across = std::clamp<std::size_t>(static_cast<std::size_t>((size.width - 0.1) / entry_width), 1, most);
  const double key_height = entries.empty() ? 0 : 0.1 + line * std::ceil(static_cast<double>(entries.size()) / static_cast<double>(across));

  // heights of the grid's rows, scaled if the user asked for a height
  double fixed = key_height, bodies = 0;
  for (std::size_t first = 0; first < rooms.size(); first += columns) {
    double around = 0, body = 0;
    for (std::size_t i = first; i < std::min(first + columns, rooms.size()); ++i) {
      around = std::max(around, rooms[i].top + rooms[i].bottom);
      body = std::max(body, rooms[i].body);
    }
    fixed += around;
    bodies += body;
  }
  const double scale = size.height > 0 ? (size.height - fixed) / bodies : 1;
  if (scale < least_scale)
    fail(Exit::usage, "--height: these panels need at least {:.1f} inches at this width", fixed + least_scale * bodies + 0.05);
  double top = 0;
  for (std::size_t first = 0; first < rooms.size(); first += columns) {
    const std::size_t end = std::min(first + columns, rooms.size());
    double above = 0, below = 0, body = 0;
    for (std::size_t i = first; i < end; ++i) {
      above = std::max(above, rooms[i].top);
      below = std::max(below, rooms[i].bottom);
      body = std::max(body, scale * rooms[i].body);
    }
    for (std::size_t i = first; i < end; ++i) {
      const double left = width * static_cast<double>(i - first), bottom = top + above + scale * rooms[i].body;
      layout.panels.push_back({.left = left + rooms[i].left,
                               .right = left + width - rooms[i].right,
                               .top = top + above,
                               .bottom = bottom,
                               .outer_left = left + 0.03,
                               .outer_right = left + width - 0.03,
                               .outer_bottom = bottom + rooms[i].bottom,
                               .title = top + 0.55 * line,
                               .tilted_names = rooms[i].tilted,
                               .name_columns = static_cast<std::size_t>((rooms[i].left - 2 * gap) / character),
                               .wrapped_names = rooms[i].wrapped,
                               .wrapped_y_label = rooms[i].wrapped_label,
                               .title_columns = static_cast<std::size_t>(std::max(width - 0.1, 0.5) / character),
                               .x = rooms[i].x,
                               .y = rooms[i].y,
                               .background = rooms[i].background});
    }
    top += above + body + below;
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const double used = entry_width * static_cast<double>(std::min(across, entries.size()));
    const double left = std::max((size.width - used) / 2, 0.05) + entry_width * static_cast<double>(i % across);
    layout.key.push_back({entries[i], left, 0.04 + top + line * (0.5 + static_cast<double>(i / across)),
                          static_cast<std::size_t>((size.width - key_line - 0.2) / character)});
  }
  layout.height = top + key_height;
  return layout;
}

// Finds round numbers for the ticks of an axis.

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void include(NumberRange& range, double value) {
  if (!std::isfinite(value)) return;
  range.from = std::min(range.from, value);
  range.to = std::max(range.to, value);
}

/// Shortens "1e+07" to "1e7".
std::string short_exponent(std::string number) {
  const std::size_t sign = number.find('e') + 1;
  if (sign == 0) return number;
  while (number[sign + 1] == '0' && sign + 2 < number.size()) number.erase(sign + 1, 1);
  if (number[sign] == '+') number.erase(sign, 1);
  return number;
}

/// Returns labels for ticks that are multiples of `step`, with as many digits as make them different. All are in scientific form if a
/// number is very large or the step very small.
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

/// The smallest step of 1, 2 or 5 x 10^n that fits at most `most` times into a span.
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
  NumberRange range{infinity, -infinity, panel.kind == PanelKind::steps || panel.kind == PanelKind::ridges || panel.kind == PanelKind::bars || panel.y_from_zero};
  for (const FigureSeries& series : panel.series)
    for (const FigurePoint& point : series.points)
      for (const double y : {point.y, point.lo, point.hi})
        if (y == point.y || panel.kind != PanelKind::heatmap) include(range, y);
  if (range.from_zero) include(range, 0);
  range.whole = panel.kind == PanelKind::steps;
  return range;
}

NumberRange common_range(const Figure& figure, const FigurePanel& panel, NumberRange (*range_of)(const FigurePanel&)) {
  const NumberRange own = range_of(panel);
  if (panel.kind == PanelKind::heatmap || panel.kind == PanelKind::field || !(own.from <= own.to)) return own;
  NumberRange common = own;
  double least = infinity;  // smallest span of a panel
  for (const FigurePanel& other : figure.panels) {
    if (other.kind != panel.kind || other.x_label != panel.x_label || other.y_label != panel.y_label) continue;
    const NumberRange range = range_of(other);
    include(common, range.from);
    include(common, range.to);
    if (range.to > range.from) least = std::min(least, range.to - range.from);
  }
  return 3 * least < common.to - common.from ? own : common;
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
  if (!(r.to - r.from > 1e-12 * std::max(std::fabs(r.to), std::fabs(r.from)))) {  // a single number
    const double half = r.to == 0 ? 1 : 0.05 * std::fabs(r.to);
    r.to += half;
    if (!r.from_zero) r.from -= half;
  }
  const double margin = 0.04 * (r.to - r.from);
  FigureAxis axis{r.from_zero && r.from >= 0 ? 0 : r.from - margin, r.from_zero && r.to <= 0 ? 0 : r.to + margin, {}, {}};
  for (const double finer : {1, 2, 4}) {  // a short axis may fall between two round numbers
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
  if (axis.ticks.empty() || axis.ticks[0] - 1 > 0.6 * step) {  // cells are counted from 1, not from 0
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
