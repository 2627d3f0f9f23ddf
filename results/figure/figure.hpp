// Builds figures, panels of series, from tables. Draws them by gnuplot as SVG, PDF or PNG, or writes their numbers as CSV.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "kernels/shared/words.hpp"
#include "results/table/model.hpp"

namespace odrpo {

/// Look of a series. Colour-blind readers can tell the colours apart (Okabe and Ito 2008). Dash and symbol tell series apart in grey.
struct SeriesStyle {
  int colour = 0, dash = 0, symbol = 0;  ///< below series_colours, series_dashes, series_symbols
  bool operator==(const SeriesStyle&) const = default;
};
inline constexpr int series_colours = 7, series_dashes = 5, series_symbols = 7;

/// Gives every series a look of its own: the wanted one, or the next free one where that is taken.
std::vector<SeriesStyle> distinct_styles(std::vector<SeriesStyle> wanted);

/// A point; lo and hi are NaN where it has no interval.
struct FigurePoint {
  double x, y, lo, hi;
  bool filled = true;  ///< forest: the difference is significant
};

struct FigureSeries {
  std::string name;
  SeriesStyle style;
  std::vector<FigurePoint> points;
};

/// How a panel is drawn. `steps`: the value holds up to the next x. `forest`: y is the line of a name, counted from the top. `heatmap`:
/// series are rows of cells, x their columns. `field`: a heat map of many cells; rows 1, 2, … (upwards) and columns 1, 2, … are numbers.
enum class PanelKind { lines, steps, bars, forest, heatmap, field };

/// A vertical line at x with a text above it.
struct FigureMark {
  double x;
  std::string text;
};

struct FigurePanel {
  PanelKind kind = PanelKind::lines;
  std::string title, x_label, y_label;
  bool log_x = false;
  bool bands = false;                         ///< of lines: intervals as bands; else as bars
  bool y_from_zero = false;                   ///< of lines: the axis begins at 0
  std::vector<double> x_ticks;                ///< of numbers along x: ticks only here; empty = at round numbers
  std::vector<std::string> x_names, y_names;  ///< categories 0, 1, … of bars and heat maps; lines of a forest
  std::vector<FigureSeries> series;
  std::vector<FigurePoint> background;  ///< bars behind lines, on a scale of their own at the right
  std::string background_label;
  int decimals = 1;               ///< of the numbers in a heat map
  std::vector<FigureMark> marks;  ///< of steps; without a title
  bool filled = false;            ///< of steps: the area below them
  bool diverging = false;         ///< of fields: colours run from 0 to both sides; else from the least value to the largest
  double colour_from = std::numeric_limits<double>::quiet_NaN(), colour_to = colour_from;  ///< of fields: scale ends; NaN = of the values
};

/// What all panels show. Every text is printable.
struct Figure {
  std::string caption;  ///< below the figure: what numbers and intervals are, n, suite, digest
  std::vector<FigurePanel> panels;
  std::size_t together = 1;  ///< above 1 (panels of several tables): two stand side by side, if they fit
};

/// Builders. Tables come from make_table or curve_table; `styles` has one look for each of their rows, in their order. Several tables make
/// panels side by side. Failure usage where a table has nothing to show; limits for more than most_panels.
inline constexpr std::size_t most_panels = 24;

/// Each row is a line over the columns, which must be numbers. Intervals are bands (`bands`) or bars. A block is a panel.
Figure lines_figure(std::span<const TableModel> tables, std::span<const SeriesStyle> styles, bool bands);
/// Bars of each row, in groups by column. Each of several values has a panel.
Figure bars_figure(const TableModel& table, std::span<const SeriesStyle> styles);
/// Differences from the baseline with their intervals, one line each; filled symbols are significant.
Figure forest_figure(const TableModel& table, std::span<const SeriesStyle> styles);
/// The centre of every cell as a colour and a number.
Figure heatmap_figure(const TableModel& table);
/// Counts of runs of each row by value: a panel for each column of each block.
Figure histogram_figure(const TableModel& table, std::span<const SeriesStyle> styles);
/// Counts of values in `bins` bins of equal width from `from` to `to`, with marks; one panel.
Figure values_histogram(std::span<const double> values, double from, double to, int bins, std::vector<FigureMark> marks,
                        const std::string& x_label, const std::string& y_label);
/// One panel of values as colours.
struct ValueField {
  std::string title;
  std::vector<double> value{};  ///< [rows][columns]; NaN = undefined, grey
  bool diverging = false;       ///< as in FigurePanel, like from and to
  double from = std::numeric_limits<double>::quiet_NaN(), to = from;
};
/// `columns` >= 1; each field has as many rows as fit.
Figure fields_figure(std::span<const ValueField> fields, std::size_t columns, const std::string& x_label, const std::string& y_label);
/// Performance profile (rliable's run-score distribution): share of runs above a score. Columns and blocks are the tasks. 95 % intervals by
/// a bootstrap of seeds, each with its runs in all tasks (expanded BCa, 1000 resamples).
Figure profile_figure(const TableModel& table, std::span<const SeriesStyle> styles, std::uint64_t seed = 1);

/// Colours of the styles: 0xRRGGBB. The first is for the series that others are compared with.
inline constexpr std::uint32_t colour_of[series_colours] = {0x000000, 0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7, 0xE69F00, 0x56B4E9};

enum class FigureFormat { svg, pdf, png };
inline constexpr Word<FigureFormat> figure_formats[] = {
    {FigureFormat::svg, "svg", "for pages"},
    {FigureFormat::pdf, "pdf", "for papers"},
    {FigureFormat::png, "png", "300 pixels per inch"},
};

/// Inches. height 0 = as the panels need.
struct FigureSize {
  double width = 3.25, height = 0;
};

/// The figure's bytes, drawn by gnuplot. Failure io when gnuplot fails or is missing (the message says how to get it).
std::string draw_figure(const Figure& figure, FigureFormat format, FigureSize size);

/// The figure's numbers: CSV with one line per point (panel, series, x, x_name, y, lo, hi, …).
std::string figure_csv(const Figure& figure);

}  // namespace odrpo
