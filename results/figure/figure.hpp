// Figures: panels of series made from tables, drawn by gnuplot as SVG, PDF or PNG, or written as numbers.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "kernels/shared/words.hpp"
#include "results/table/model.hpp"

namespace odrpo {

/// Look of a series. Colours are those of Okabe and Ito 2008, which colour-blind readers tell apart; dash and symbol tell them apart in
/// grey.
struct SeriesStyle {
  int colour = 0, dash = 0, symbol = 0;  ///< below series_colours, series_dashes, series_symbols
  bool operator==(const SeriesStyle&) const = default;
};
inline constexpr int series_colours = 7, series_dashes = 5, series_symbols = 7;

/// Gives every series a look of its own: those asked for where they differ, the next free one for a repetition.
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

/// How a panel is drawn. steps: the value holds up to the next x. forest: y are lines of names, counted from the top. heatmap: series are
/// rows of cells, x their columns. field: the same of many cells, whose rows 1, 2, … (upwards) and columns 1, 2, … are numbers.
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
  std::vector<double> x_ticks;                ///< where lines have numbers at these only; empty = as gnuplot likes
  std::vector<std::string> x_names, y_names;  ///< categories 0, 1, … of bars and heat maps; lines of a forest
  std::vector<FigureSeries> series;
  std::vector<FigurePoint> background;  ///< bars behind lines, by a scale of their own on the right
  std::string background_label;
  int decimals = 1;               ///< of the numbers in a heat map
  std::vector<FigureMark> marks;  ///< of steps; without a title
  bool filled = false;            ///< of steps: the area below them
  bool diverging = false;         ///< of fields: colours run from 0 to both sides; else from the least value to the largest
  double colour_from = std::numeric_limits<double>::quiet_NaN(), colour_to = colour_from;  ///< of fields: these ends instead; NaN = none
};

/// What all panels show. Every text is printable.
struct Figure {
  std::string caption;  ///< what the numbers and intervals are; n, suite and digest: for the text below the figure
  std::vector<FigurePanel> panels;
  std::size_t together = 1;  ///< so many panels stand side by side, if two fit: those of several tables
};

/// Builders. Tables come from make_table or curve_table; `styles` has one look for each of their rows, in their order. Several tables make
/// panels side by side. Failure usage where a table has nothing that the figure could show; limits for more than most_panels.
inline constexpr std::size_t most_panels = 24;

/// Each row a line over the columns, which must be numbers, with intervals as bands (`bands`) or bars. A block is a panel.
Figure lines_figure(std::span<const TableModel> tables, std::span<const SeriesStyle> styles, bool bands);
/// Bars of each row, in groups by column. Of several values each has a panel.
Figure bars_figure(const TableModel& table, std::span<const SeriesStyle> styles);
/// Differences from the baseline with their intervals, a line each; filled symbols are significant.
Figure forest_figure(const TableModel& table, std::span<const SeriesStyle> styles);
/// The centre of every cell as a colour and a number.
Figure heatmap_figure(const TableModel& table);
/// How many runs of each row have which value: a panel for each column of each block.
Figure histogram_figure(const TableModel& table, std::span<const SeriesStyle> styles);
/// How many values lie in each of `bins` bins of equal width from `from` to `to`, with marks; one panel.
Figure values_histogram(std::span<const double> values, double from, double to, int bins, std::vector<FigureMark> marks,
                        const std::string& x_label, const std::string& y_label);
/// Values as colours, a panel.
struct ValueField {
  std::string title;
  std::vector<double> value{};  ///< [rows][columns]; NaN = undefined, grey
  bool diverging = false;       ///< as FigurePanel has it, like the ends
  double from = std::numeric_limits<double>::quiet_NaN(), to = from;
};
/// `columns` >= 1; each field has as many rows as fit.
Figure fields_figure(std::span<const ValueField> fields, std::size_t columns, const std::string& x_label, const std::string& y_label);
/// Performance profile (rliable's run-score distribution): share of runs above a score, with the columns and blocks as tasks and 95 %
/// intervals by a bootstrap of seeds, each with its runs in all tasks (expanded BCa, 1000 resamples).
Figure profile_figure(const TableModel& table, std::span<const SeriesStyle> styles, std::uint64_t seed = 1);

/// Colours of the styles: 0xRRGGBB. The first is for what all others are compared with.
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

/// The figure's bytes, drawn by gnuplot. Failure io when gnuplot is not there, with the way to get it, or does not succeed.
std::string draw_figure(const Figure& figure, FigureFormat format, FigureSize size);

/// The figure's numbers: CSV with one line per point (panel, series, x, x_name, y, lo, hi, …).
std::string figure_csv(const Figure& figure);

}  // namespace odrpo
