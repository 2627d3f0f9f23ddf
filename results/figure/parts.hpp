// Declares what the files of results/figure/ share: axes, layout, captions, gnuplot scripts. Private to results/figure/.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "results/figure/figure.hpp"

namespace odrpo {

// The ends and ticks of an axis.

/// An axis with its ends and the labels of its ticks.
struct FigureAxis {
  double from = 0, to = 1;
  std::vector<double> ticks;
  std::vector<std::string> labels;  ///< of the ticks
};

/// The numbers that an axis must show, ends of intervals too. Empty (from > to) when there is none.
struct NumberRange {
  double from, to;
  bool from_zero = false;  ///< bars, counts and shares begin at 0
  bool whole = false;      ///< counts: no tick between whole numbers
};
NumberRange range_of_x(const FigurePanel& panel);
NumberRange range_of_y(const FigurePanel& panel);
NumberRange range_of_background(const FigurePanel& panel);
/// Range of the values in a field; on both sides of 0 if it is diverging. Never empty.
NumberRange range_of_colours(const FigurePanel& panel);

/// An axis around a range, with at most `most` ticks at round numbers. An end that is not 0 gets a margin of 4 %.
FigureAxis axis_of(const NumberRange& range, std::size_t most);

/// An axis of the cells 1, 2, …, `count`, from the edge of the first to that of the last.
FigureAxis axis_of_cells(std::size_t count, std::size_t most);

/// An axis from end to end of a range, with at most `most` ticks or a few more.
FigureAxis axis_between(const NumberRange& range, std::size_t most);

/// An axis with ticks at these numbers alone.
FigureAxis axis_at(const std::vector<double>& ticks, const NumberRange& range, bool log);

// Where the panels of a figure and its key lie on the page. Private to results/figure/.

inline constexpr double point_size = 7.5;  ///< of all text, in points (1/72 inch)

/// A panel on the page, in inches from its left and top.
struct PanelPlace {
  double left, right, top, bottom;               ///< its axes
  double outer_left, outer_right, outer_bottom;  ///< with its labels
  double title;                                  ///< the middle of the title's line
  bool tilted_names;                             ///< the names of its columns are too long to lie side by side
  std::size_t name_columns;                      ///< characters that fit beside the axis
  std::size_t title_columns;                     ///< characters that fit above it
  FigureAxis x, y, background;                   ///< of numbers
};

/// An entry of the key: the middle of its line's left end.
struct KeyPlace {
  const FigureSeries* series;
  double left, top;
  std::size_t columns;  ///< characters that fit
};

struct FigureLayout {
  double width, height;  ///< of the page
  std::vector<PanelPlace> panels;
  std::vector<KeyPlace> key;  ///< one per name; empty for one name, or where the panels name their lines
};

/// Inches that a text takes in a wide sans-serif font, roughly.
double text_width(const std::string& text);
/// The longest of the numbers in the cells of a heat map.
double number_width(const FigurePanel& panel);

/// Failure usage when the page is lower than its panels need.
FigureLayout layout_of(const Figure& figure, FigureSize size);

// What the builders of figures share. Private to results/.

/// "gain [%]: mean and 95 % t interval over 20 seeds (suite quickstart, digest 0123456789ab)", with a part for each value. `what` replaces
/// "mean and …".
std::string tables_caption(std::span<const TableModel> tables, const char* what = nullptr);

/// " (suite quickstart, digest 0123456789ab)".
std::string source_text(const TableModel& table);

/// The name of a row: "votes=8" for a number, else as in tables.
std::string series_name(const TableModel& table, std::size_t row);

/// Failure usage when there is no panel, limits when there are more than most_panels.
void check_panels(const Figure& figure);

// A figure as commands for gnuplot. Private to results/figure/.

/// The whole script; gnuplot writes the figure to its standard output. Texts stand in a data block, so that gnuplot never takes one for a
/// command.
std::string figure_script(const Figure& figure, FigureFormat format, FigureSize size);

// Commands for gnuplot that draw values as colours. Private to results/figure/.

/// Colours of a scale, which colour-blind readers tell apart: viridis, or blue - white - vermilion with white at 0.
std::string palette_commands(bool diverging, const NumberRange& range);

/// Place and size of a bar of colours, in parts of the page from its left and bottom.
struct ColourBar {
  double left, bottom, width, height;
};

/// The values of a field as lines of a data block, a row of cells each.
std::string field_cells(const FigurePanel& panel);

/// The plot of a field, whose values are in the data block `name`, over its axes. Undefined cells are grey.
std::string field_commands(const FigurePanel& panel, const FigureAxis& colours, const ColourBar& bar, const std::string& name);

}  // namespace odrpo
