// Lays panels out in a grid, with room for tick labels, titles and a key below all.
#include "results/figure/panel_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"

namespace odrpo {
namespace {

constexpr double character = 0.57 * point_size / 72;  // mean width of a letter of a wide sans-serif font, in inches
constexpr double line = 1.4 * point_size / 72;
constexpr double least_scale = 0.5;  // of the height that panels would have
constexpr double least_axes = 0.4;   // along x
constexpr double gap = 0.06;         // between ticks and labels, labels and page
constexpr double key_line = 0.36;    // length of the line before a name, and the gap

double longest(const std::vector<std::string>& texts) {
  double width = 0;
  for (const std::string& text : texts) width = std::max(width, text_width(text));
  return width;
}

/// Room around the axes of a panel, how high these are, and their ticks.
struct Room {
  double left, right, top, bottom, body;
  bool tilted = false;
  FigureAxis x, y, background;
};

bool has_names(const FigurePanel& panel) { return panel.kind == PanelKind::forest || panel.kind == PanelKind::heatmap; }

/// An axis of numbers along x, whose labels do not touch.
FigureAxis x_axis(const FigurePanel& panel, double length) {
  const NumberRange range = range_of_x(panel);
  if (!panel.x_ticks.empty()) return axis_at(panel.x_ticks, range, panel.log_x);
  for (std::size_t most = 8; most > 1; --most)
    if (FigureAxis axis = axis_of(range, most);
        longest(axis.labels) + 0.1 < length / static_cast<double>(std::max<std::size_t>(axis.ticks.size(), 2) - 1))
      return axis;
  return axis_of(range, 1);
}

Room room_of(const FigurePanel& panel, double width) {
  Room room{};
  room.body = panel.kind == PanelKind::forest    ? 0.16 * static_cast<double>(panel.y_names.size()) + 0.08
              : panel.kind == PanelKind::heatmap ? 0.21 * static_cast<double>(panel.y_names.size())
              : panel.kind == PanelKind::field   ? std::clamp(0.1 * static_cast<double>(panel.series.size()), 0.6, 1.4)
                                                 : std::clamp(0.66 * (width - 0.7), 1.0, 2.2);
  const auto most = static_cast<std::size_t>(std::clamp(room.body / 0.24, 2.0, 8.0));
  room.y = axis_of(range_of_y(panel), panel.kind == PanelKind::heatmap ? std::min<std::size_t>(most, 4) : most);
  room.background = axis_of(range_of_background(panel), most);
  if (panel.kind == PanelKind::field) {
    room.y = axis_of_cells(panel.series.size(), most);
    room.background = axis_between(range_of_colours(panel), std::min<std::size_t>(most, 5));
  }
  room.right = panel.kind == PanelKind::field     ? 0.3 + std::max(longest(room.background.labels), text_width("-0.5"))
               : panel.kind == PanelKind::heatmap ? 0.28 + longest(room.y.labels) + line
               : panel.background.empty()         ? 0.14
                                                  : 2 * gap + longest(room.background.labels) + line;
  room.left = gap + (has_names(panel) ? std::min({longest(panel.y_names) + 2 * gap, 0.65 * width, width - room.right - least_axes - gap})
                                      : line + longest(room.y.labels) + gap);
  const double axes = std::max(width - room.left - room.right, least_axes);
  if (panel.kind == PanelKind::field) room.x = axis_of_cells(panel.series.empty() ? 1 : panel.series[0].points.size(), 8);
  else if (panel.x_names.empty()) room.x = x_axis(panel, axes);
  room.top = panel.title.empty() && panel.marks.empty() ? 0.09 : 1.5 * line;
  room.bottom = line + (panel.x_label.empty() ? 0 : 1.1 * line);
  if (!panel.x_names.empty() && longest(panel.x_names) > 0.95 * axes / static_cast<double>(panel.x_names.size())) {
    room.tilted = true;
    room.bottom += 0.72 * std::min(longest(panel.x_names), 20 * character) - 0.3 * line;
  }
  return room;
}

/// Inches along x that the cells of a heat map need for their numbers.
double cells_width(const FigurePanel& panel) {
  return panel.kind == PanelKind::heatmap ? (number_width(panel) + 0.06) * static_cast<double>(panel.x_names.size()) : 0;
}

/// Panels side by side: as many as leave room for names, numbers and titles.
std::size_t grid_columns(const Figure& figure, double width) {
  const auto& panels = figure.panels;
  if (width < 4.5 || panels.size() == 1 || panels[0].kind == PanelKind::field) return 1;
  double names = 0, titles = 0;
  for (const FigurePanel& panel : panels) {
    if (has_names(panel)) names = std::max(names, longest(panel.y_names) + std::max(cells_width(panel) + 0.75, 0.22 * width));
    titles = std::max(titles, text_width(panel.title) + 0.1);
  }
  if (names > 0.5 * width || titles > 0.5 * width) return 1;
  if (figure.together > 1 || names > 0 || titles > width / 3) return 2;
  return panels.size() == 3 || panels.size() > 4 ? 3 : 2;
}

/// The first series of each name, over all panels whose lines have no names of their own.
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
  for (const FigurePanel& panel : figure.panels) rooms.push_back(room_of(panel, width));

  const auto entries = key_entries(figure);
  double widest = 0;
  for (const FigureSeries* entry : entries) widest = std::max(widest, text_width(entry->name));
  const double entry_width = key_line + 0.16 + widest;
  const std::size_t most = std::max<std::size_t>(entries.size(), 1);
  const std::size_t across = std::clamp<std::size_t>(static_cast<std::size_t>((size.width - 0.1) / entry_width), 1, most);
  const double key_height = entries.empty() ? 0 : 0.1 + line * std::ceil(static_cast<double>(entries.size()) / static_cast<double>(across));

  // rows of the grid, scaled where a height is asked for
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
    throw Failure(Exit::usage,
                  fmt::format("--height: these panels need at least {:.1f} inches at this width", fixed + least_scale * bodies + 0.05));
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

}  // namespace odrpo
