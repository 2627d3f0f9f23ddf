// Builds figures (panels of series) from tables. Draws them with gnuplot as SVG, PDF or PNG, or writes their numbers as CSV.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "kernels/shared/words.hpp"
#include "results/table/model.hpp"

namespace odrpo {

/// How a series is drawn. Colour-blind readers can tell the colours apart (Okabe and Ito 2008); dash and symbol tell series apart in grey
/// print.
struct SeriesStyle {
  int colour = 0, dash = 0, symbol = 0;  ///< indices below series_colours, series_dashes, series_symbols
  bool operator==(const SeriesStyle&) const = default;
};
inline constexpr int series_colours = 7, series_dashes = 5, series_symbols = 7;

/// Gives every series its own colour and dash: the wanted ones, or the next free ones if those are taken.
std::vector<SeriesStyle> distinct_styles(std::vector<SeriesStyle> wanted);

/// A point of a series. lo and hi are the ends of its interval, NaN if it has none.
struct FigurePoint {
  double x, y, lo, hi;
  bool filled = true;  ///< forest: true if the difference is significant
};

struct FigureSeries {
  std::string name;
  SeriesStyle style;
  std::vector<FigurePoint> points;
};

/// How a panel is drawn. `steps`: the value holds up to the next x. `forest`: a forest plot with one name per line; y counts the lines from
/// the top; a line without a point is a heading. `heatmap`: series are rows of cells, x is the column. `field`: a heat map of many cells with
/// numbered rows 1, 2, … (upwards) and columns 1, 2, …. `ridges`: steps, each series on a line of its own, one below the other.
enum class PanelKind { lines, steps, bars, forest, heatmap, field, ridges };

/// A vertical line at x, with a text above it.
struct FigureMark {
  double x;
  std::string text;
};

struct FigurePanel {
  PanelKind kind = PanelKind::lines;
  std::string title, x_label, y_label;
  bool log_x = false;
  bool bands = false;                         ///< of lines: draw intervals as bands, otherwise as bars
  bool y_from_zero = false;                   ///< of lines: the y axis begins at 0
  std::vector<double> x_ticks;                ///< of a numeric x axis: ticks only here; empty = at round numbers
  std::vector<std::string> x_names, y_names;  ///< categories 0, 1, … of bars and heat maps; names of the lines of forests and ridges
  std::vector<FigureSeries> series;
  std::vector<FigurePoint> background;  ///< bars behind the lines, with their own scale at the right
  std::string background_label;
  int decimals = 1;               ///< of the numbers in a heat map
  std::vector<FigureMark> marks;  ///< of steps: vertical lines; only for a panel without a title
  bool filled = false;            ///< of steps: fill the area below
  bool diverging = false;         ///< of fields: colours run from 0 to both sides, otherwise from the smallest to the largest value
  double colour_from = std::numeric_limits<double>::quiet_NaN(), colour_to = colour_from;  ///< of fields: ends of the colours; NaN = of values
};

/// A figure. Every text in it is printable.
struct Figure {
  std::string caption;  ///< below the figure: meaning of numbers and intervals, n, suite, digest
  std::vector<FigurePanel> panels;
  std::size_t together = 1;  ///< above 1 (panels of several tables): draw two side by side if they fit
};

/// Functions that build figures. Tables come from make_table or curve_table; `styles` has one style for each of their rows, in order.
/// Several tables give panels side by side. Failure `usage` if a table has nothing to show; `limits` for more than most_panels panels.
inline constexpr std::size_t most_panels = 24;

/// Draws rows of tables as lines over the columns, which must be numbers. Intervals are bands (`bands`) or bars. Each block is a panel. With `differences`
/// each row's difference from its baseline, which is a line at 0.
Figure lines_figure(std::span<const TableModel> tables, std::span<const SeriesStyle> styles, bool bands, bool differences = false);
/// The tables of curves of one kind, for the levels 2, 3, ….
struct LevelTables {
  std::string name;  ///< of the kind, for axes: "quality_at_least_k"
  std::vector<TableModel> level;
};
/// Draws for each kind a panel of each row of the tables, in which each level is a line over the steps.
Figure levels_figure(std::span<const LevelTables> kinds);
/// Draws the rows of a table as bars, grouped by column. Each value has its own panel.
Figure bars_figure(const TableModel& table, std::span<const SeriesStyle> styles);
/// Bars begin at 0. Failure `usage` if they would look alike: if in each panel the values, with their intervals, differ by less than a quarter of the
/// largest. To be called before bars are drawn.
void check_bars(const Figure& bars);
/// Draws each row's difference from its baseline, with its interval, on a line of its own (a forest plot). Filled symbols are significant.
Figure forest_figure(const TableModel& table, std::span<const SeriesStyle> styles);
/// Draws a heat map, which shows the mean (or median) of every cell as a colour and a number.
Figure heatmap_figure(const TableModel& table);
/// Draws histograms: for each row, how many runs have which value. Each column of each block is a panel. More than most_outlines rows stand one below
/// the other (a ridgeline plot).
inline constexpr std::size_t most_outlines = 3;
Figure histogram_figure(const TableModel& table, std::span<const SeriesStyle> styles);
/// Draws, in one panel, a histogram of `values` with `bins` bins of equal width from `from` to `to`, and vertical marks.
Figure values_histogram(std::span<const double> values, double from, double to, int bins, std::vector<FigureMark> marks,
                        const std::string& x_label, const std::string& y_label);
/// The values of one panel of fields_figure, drawn as colours.
struct ValueField {
  std::string title;
  std::vector<double> value{};  ///< [rows][columns]; NaN = undefined, grey
  bool diverging = false;       ///< as in FigurePanel, where `from` and `to` are called colour_from and colour_to
  double from = std::numeric_limits<double>::quiet_NaN(), to = from;
};
/// Draws each field as a panel, with `columns` >= 1 cells in a row and value.size() / columns rows.
Figure fields_figure(std::span<const ValueField> fields, std::size_t columns, const std::string& x_label, const std::string& y_label);
/// Draws for each row a performance profile (rliable's run-score distribution): the share of runs above a score, over the score. The columns of all
/// blocks are the tasks. The 95 % intervals are from a bootstrap of seeds, each with its runs in all tasks (expanded BCa, 1000 resamples).
Figure profile_figure(const TableModel& table, std::span<const SeriesStyle> styles, std::uint64_t seed = 1);

/// The colours of the styles, 0xRRGGBB. The first is for the series with which others are compared.
inline constexpr std::uint32_t colour_of[series_colours] = {0x000000, 0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7, 0xE69F00, 0x56B4E9};
/// Words for the dashes and symbols of the styles, and for PanelKind, in their order.
inline constexpr const char* dash_words[series_dashes] = {"solid", "dashed", "dotted", "dash-dotted", "finely dotted"};
inline constexpr const char* symbol_words[series_symbols] = {"circle", "square", "triangle", "diamond", "triangle-down", "pentagon", "star"};
inline constexpr const char* panel_kind_words[] = {"lines", "steps", "bars", "forest", "heatmap", "field", "ridges"};

enum class FigureFormat { svg, pdf, png };
inline constexpr Word<FigureFormat> figure_formats[] = {
    {FigureFormat::svg, "svg", "for pages"},
    {FigureFormat::pdf, "pdf", "for papers"},
    {FigureFormat::png, "png", "300 pixels per inch"},
};

/// Size in inches. Height 0 = as high as the panels need.
struct FigureSize {
  double width = 3.25, height = 0;
};

/// Draws a figure with gnuplot and returns the bytes of the file. Failure `io` if gnuplot fails or is missing (the message says how to
/// install it).
std::string draw_figure(const Figure& figure, FigureFormat format, FigureSize size);

/// The figure's numbers as CSV, one line per point (panel, series, x, x_name, y, lo, hi, …).
std::string figure_csv(const Figure& figure);

}  // namespace odrpo
