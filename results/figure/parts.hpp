// Declares what the files of results/figure/ share: axes, layout, captions, gnuplot scripts. Private to results/figure/.
#pragma once
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "results/figure/figure.hpp"

namespace odrpo {

// Axes: their ends and ticks.

/// An axis of numbers: its ends, its ticks, and their labels.
struct FigureAxis {
  double from = 0, to = 1;
  std::vector<double> ticks;
  std::vector<std::string> labels;  ///< one per tick
};

/// The range of numbers that an axis must show, ends of intervals included. Empty (from > to) if there is no number.
struct NumberRange {
  double from, to;
  bool from_zero = false;  ///< bars, counts and shares: the axis begins at 0
  bool whole = false;      ///< counts: ticks at integers only
};
NumberRange range_of_x(const FigurePanel& panel);
NumberRange range_of_y(const FigurePanel& panel);
NumberRange range_of_background(const FigurePanel& panel);
/// The range (range_of_x or range_of_y) of all panels that show the same quantities as this one, so that readers may compare them; the panel's own
/// range if the common one would leave two thirds of a panel empty.
NumberRange common_range(const Figure& figure, const FigurePanel& panel, NumberRange (*range_of)(const FigurePanel&));
/// The range of a field's colour scale; 0 lies inside if the colours diverge from 0. Never empty.
NumberRange range_of_colours(const FigurePanel& panel);

/// Makes an axis for a range, with at most about `most` ticks at round numbers. An end that is not 0 gets a margin of 4 %.
FigureAxis axis_of(const NumberRange& range, std::size_t most);

/// Makes an axis for cells 1, 2, …, `count`, from the edge of the first cell to the edge of the last.
FigureAxis axis_of_cells(std::size_t count, std::size_t most);

/// Makes an axis that ends exactly at the ends of the range, with about `most` ticks.
FigureAxis axis_between(const NumberRange& range, std::size_t most);

/// Makes an axis with ticks at these numbers only.
FigureAxis axis_at(const std::vector<double>& ticks, const NumberRange& range, bool log);

// Layout: positions of the panels of a figure and of its key (legend) on the page. Private to results/figure/.

inline constexpr double point_size = 7.5;        ///< size of all text, in points (1/72 inch)
/// Characters that a text along a panel's axis may have; it may be a little longer than the axis.
inline std::size_t columns_along(double axis) { return static_cast<std::size_t>((axis + 0.4) / (0.6 * point_size / 72)); }
inline constexpr std::size_t tilted_columns = 26;  ///< most characters of a column name that does not lie

/// The position of a panel, in inches from the left and top of the page.
struct PanelPlace {
  double left, right, top, bottom;               ///< of its axes
  double outer_left, outer_right, outer_bottom;  ///< of the panel with its labels
  double title;                                  ///< middle of the title's line
  bool tilted_names;                             ///< true if the column names are too long to lie side by side
  std::size_t name_columns;                      ///< characters that fit left of the axis
  bool wrapped_names;                            ///< true if names that are longer stand in two lines (two_lines)
  bool wrapped_y_label;                          ///< true if the y label is longer than the axis, and stands in two lines
  std::size_t title_columns;                     ///< characters that fit in the title
  FigureAxis x, y, background;                   ///< axes of numbers
};

/// The position of a line of the figure's key (legend): its left end, at half height.
struct KeyPlace {
  const FigureSeries* series;
  double left, top;
  std::size_t columns;  ///< characters of its name that fit
};

struct FigureLayout {
  double width, height;  ///< of the page
  std::vector<PanelPlace> panels;
  std::vector<KeyPlace> key;  ///< one per series name; empty for a single name, or if the panels name their lines
};

/// Approximate width of a text in a wide sans-serif font, in inches.
double text_width(const std::string& text);
/// Width of the longest number in the cells of a heat map, in inches.
double number_width(const FigurePanel& panel);

/// Breaks a name into two lines: before its last bracket, else behind the blank, comma or hyphen next to its middle. The second is empty if it has none.
std::pair<std::string, std::string> two_lines(const std::string& name);

/// Lays out a figure. Failure `usage` if the page is lower than the panels need.
FigureLayout layout_of(const Figure& figure, FigureSize size);

// Texts and checks that the functions building figures share. Private to results/.

/// The caption of a figure: "gain [%]: mean and 95 % t interval over 20 seeds (suite quickstart, digest 0123456789ab)", with such a part
/// for each value. `what` replaces the words "mean and … interval" if it is not null.
std::string tables_caption(std::span<const TableModel> tables, const char* what = nullptr);

/// The end of a caption: " (suite quickstart, digest 0123456789ab)".
std::string source_text(const TableModel& table);

/// What an axis of this value shows: value_text, but "step time [us]" for the word `seconds`.
std::string quantity_text(const TableValue& value);

/// The name of a row: "votes=8" for a number, otherwise as in tables.
std::string series_name(const TableModel& table, std::size_t row);

/// True if the line of a forest is a heading: no series has a point there.
bool is_heading(const FigurePanel& panel, std::size_t line);

/// The largest count of all ridges of a figure, by which their heights compare; 0 without ridges.
double highest_ridge(const Figure& figure);

/// The outline of one series of PanelKind::ridges: y = row + 0.4 where a count is 0, row - 0.45 where it is `most`, with two points at each step.
std::vector<FigurePoint> ridge_outline(const std::vector<FigurePoint>& steps, std::size_t row, double most);

/// Failure `usage` if a figure has no panel; Failure `limits` if it has more than most_panels.
void check_panels(const Figure& figure);

// A figure as a gnuplot script. Private to results/figure/.

/// The whole script; gnuplot writes the figure to its standard output. Texts are in a data block, so that gnuplot never runs a text as a
/// command.
std::string figure_script(const Figure& figure, FigureFormat format, FigureSize size);

// gnuplot's commands for values drawn as colours. Private to results/figure/.

/// Commands for the colours of a scale that colour-blind readers can tell apart: viridis, or blue - white - vermilion with white at 0.
std::string palette_commands(bool diverging, const NumberRange& range);

/// Position and size of a colour scale bar, as fractions of the page from its left and bottom.
struct ColourBar {
  double left, bottom, width, height;
};

/// The values of a field as lines of a data block, one row of cells each.
std::string field_cells(const FigurePanel& panel);

/// Commands that plot a field whose values are in the data block `name`. Undefined cells are grey.
std::string field_commands(const FigurePanel& panel, const FigureAxis& colours, const ColourBar& bar, const std::string& name);

}  // namespace odrpo
