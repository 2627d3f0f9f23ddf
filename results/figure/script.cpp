// Writes gnuplot's commands: first texts and numbers as data blocks, then one plot for each panel.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/shared/utf8.hpp"
#include "results/figure/parts.hpp"

namespace odrpo {
namespace {

// dash patterns and symbol numbers of gnuplot's cairo and SVG terminals; the open form of a symbol has the number of its filled form minus
// 1 (for the star, a cross)
constexpr const char* dash_of[series_dashes] = {"1", "(9,4)", "(3,3)", "(12,3,2,3)", "(1.5,2.5)"};
constexpr int symbol_of[series_symbols] = {7, 5, 9, 13, 11, 15, 3};
constexpr std::size_t few_points = 12;  // series with at most so many points show a symbol at each

/// A number in gnuplot's syntax; NaN if it is not finite.
std::string script_number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : "NaN"; }

class Script {
 public:
  Script(const Figure& figure, FigureFormat format, FigureSize size) : figure_(figure), layout_(layout_of(figure, size)), format_(format) {}

  std::string text() {
    std::string plots;
    for (std::size_t p = 0; p < figure_.panels.size(); ++p) plots += panel(p);
    std::string out = "$texts << END_OF_TEXTS\n" + texts_ + "END_OF_TEXTS\n";
    for (std::size_t t = 1; t <= count_; ++t) out += fmt::format("t{} = $texts[{}][3:*]\n", t, t);
    return out + blocks_ + terminal() + "set multiplot\n" + plots + "unset multiplot\n";
  }

 private:
  /// Adds a text and returns the name of its variable. Each line of the data block begins with "t ", so that no text can end the block.
  std::string text(const std::string& words) {
    std::string line = words;
    std::replace_if(
        line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
    texts_ += "t " + line + "\n";
    return fmt::format("t{}", ++count_);
  }

  /// Adds a data block of these points (x, y, lo, hi) and returns its name.
  std::string block(const std::vector<FigurePoint>& points) {
    std::string name = fmt::format("$d{}", ++data_);
    blocks_ += name + " << END_OF_DATA\n";
    for (const FigurePoint& p : points) blocks_ += fmt::format("{} {} {} {}\n", script_number(p.x), script_number(p.y), script_number(p.lo), script_number(p.hi));
    blocks_ += "END_OF_DATA\n";
    return name;
  }

  std::string terminal() const {
    const double dots = format_ == FigureFormat::svg ? 96 : 300, scale = dots / 72;
    constexpr double cairo_size = 0.75 * point_size;  // the cairo terminals read sizes in units of 1/96 inch
    if (format_ == FigureFormat::pdf)
      return fmt::format(
          "set terminal pdfcairo noenhanced color size {:.4f}in,{:.4f}in font \"sans,{}\" fontscale 1 linewidth 1.1 pointscale 0.6\n",
          layout_.width, layout_.height, cairo_size);
    const int width = static_cast<int>(std::lround(dots * layout_.width)), height = static_cast<int>(std::lround(dots * layout_.height));
    if (format_ == FigureFormat::svg)
      return fmt::format("set terminal svg noenhanced size {},{} fixed font \"sans-serif,{:.2f}\" linewidth 1.2 background rgb \"white\"\n",
                         width, height, point_size * scale);
    return fmt::format("set terminal pngcairo noenhanced size {},{} font \"sans,{}\" fontscale {:.4f} linewidth {:.2f} pointscale {:.2f}\n",
                       width, height, cairo_size, scale, 0.36 * scale * 1.6, 0.75 * scale);
  }

  double x(double inches) const { return inches / layout_.width; }
  double y(double inches) const { return 1 - inches / layout_.height; }

  static std::string colour(const SeriesStyle& style) {
    return fmt::format("rgb \"#{:06X}\"", colour_of[std::clamp(style.colour, 0, series_colours - 1)]);
  }
  /// The width of the i-th arrow of a list: another than its neighbours', since gnuplot's SVG makes arrows of one colour and width one path, with the dashes
  /// of the first.
  static double own_width(double width, std::size_t i) { return width + 0.01 * static_cast<double>(i % 2); }
  static std::string dash(const SeriesStyle& style) { return dash_of[std::clamp(style.dash, 0, series_dashes - 1)]; }
  static int symbol(const SeriesStyle& style) { return symbol_of[std::clamp(style.symbol, 0, series_symbols - 1)]; }
  /// Returns gnuplot's option for the filling of a bar: solid, or hatched if the style is dashed.
  static std::string fill(const SeriesStyle& style) {
    return style.dash == 0 ? "solid 0.9 border lc rgb \"black\"" : fmt::format("pattern {} border lc rgb \"black\"", 3 + style.dash);
  }

  static bool has_intervals(const FigureSeries& series) {
    return std::any_of(series.points.begin(), series.points.end(), [](const FigurePoint& p) { return std::isfinite(p.lo); });
  }
  /// Returns the commands that draw intervals as lines with caps. (gnuplot's yerrorbars would cover what is drawn at their centre.)
  static std::string error_bars(const std::string& data, const std::string& colour) {
    return fmt::format("{} using 1:3:(0):($4-$3) with vectors heads size screen 0.006,90 lw 0.8 dt 1 lc {}", data, colour);
  }

  std::string panel(std::size_t p) {
    const FigurePanel& panel = figure_.panels[p];
    const PanelPlace& place = layout_.panels[p];
    const bool numbers_beside = panel.kind != PanelKind::forest && panel.kind != PanelKind::heatmap && panel.kind != PanelKind::ridges;
    std::string out = fmt::format(
        "reset\nset border 3 lw 0.6\nset tics nomirror scale 0.4\nset xtics offset 0,0.35\nset ytics offset 0.4,0\nunset key\n"
        "set lmargin at screen {:.5f}\nset rmargin at screen {:.5f}\nset tmargin at screen {:.5f}\nset bmargin at screen {:.5f}\n",
        x(place.left), x(place.right), y(place.top), y(place.bottom));
    const auto label = [&](int id, const std::string& words, std::size_t columns, double across, double down, const char* how) {
      if (!words.empty())
        out += fmt::format("set label {} {} at screen {:.5f},{:.5f} {} noenhanced\n", id, text(shortened(words, columns)), x(across),
                           y(down), how);
    };
    constexpr double half_line = 0.5 * point_size / 72;
    const auto height = columns_along(place.bottom - place.top);
    label(1, panel.title, place.title_columns, place.outer_left, place.title, "left");
    const double half = std::min(text_width(panel.x_label), place.outer_right - place.outer_left) / 2;  // below the axes, but on the page
    label(2, panel.x_label, place.title_columns,
          std::clamp((place.left + place.right) / 2, place.outer_left + half, std::max(place.outer_right - half, place.outer_left + half)),
          place.outer_bottom - 1.4 * half_line, "center");
    if (numbers_beside) {
      const auto [first, second] = place.wrapped_y_label ? two_lines(panel.y_label) : std::pair(panel.y_label, std::string());
      const double middle = (place.top + place.bottom) / 2, line = 2.6 * half_line;
      label(3, first, height, place.outer_left + half_line, middle, "center rotate by 90");
      label(7, second, height, place.outer_left + half_line + line, middle, "center rotate by 90");
    }
    if (!panel.background.empty())
      label(4, panel.background_label, height, place.outer_right - half_line, (place.top + place.bottom) / 2, "center rotate by 90");
    if (panel.kind == PanelKind::heatmap)
      label(4, panel.y_label, height, place.outer_right - half_line, (place.top + place.bottom) / 2, "center rotate by 90");
    if (panel.x_names.empty()) out += axis("x", place.x);
    if (numbers_beside) out += axis("y", place.y);
    if (p + 1 == figure_.panels.size()) out += key();
    switch (panel.kind) {
      case PanelKind::lines: return out + lines(panel, place);
      case PanelKind::steps: return out + steps(panel, place);
      case PanelKind::bars: return out + bars(panel, place);
      case PanelKind::forest: return out + forest(panel, place);
      case PanelKind::heatmap: return out + heatmap(panel, place);
      case PanelKind::field: return out + field(panel, place);
      case PanelKind::ridges: return out + ridges(panel, place);
    }
    return out;
  }

  /// Returns the commands that set the ends and ticks of an axis of numbers.
  static std::string axis(const char* name, const FigureAxis& axis) {
    std::string out = fmt::format("set {}range [{}:{}]\nset {}tics (", name, script_number(axis.from), script_number(axis.to), name);
    for (std::size_t i = 0; i < axis.ticks.size(); ++i)
      out += fmt::format("{}\"{}\" {}", i == 0 ? "" : ", ", axis.labels[i], script_number(axis.ticks[i]));
    return out + ")\n";
  }

  std::string key() {
    std::string out;
    for (std::size_t i = 0; i < layout_.key.size(); ++i) {
      const KeyPlace& entry = layout_.key[i];
      const SeriesStyle& style = entry.series->style;
      const double left = entry.left, right = entry.left + 0.3, middle = entry.top;
      if (figure_.panels[0].kind == PanelKind::bars)
        out += fmt::format("set object {} rectangle from screen {:.5f},{:.5f} to screen {:.5f},{:.5f} front fc {} fs {}\n", i + 1,
                           x(left + 0.1), y(middle + 0.04), x(right), y(middle - 0.04), colour(style), fill(style));
      else
        out += fmt::format("set arrow {} from screen {:.5f},{:.5f} to screen {:.5f},{:.5f} nohead front lw {:.2f} lc {} dt {}\n", i + 1,
                           x(left), y(middle), x(right), y(middle), own_width(1.4, i), colour(style), dash(style));
      const bool symbols = figure_.panels[0].kind == PanelKind::lines;
      if (symbols)
        out += fmt::format("set label {} \"\" at screen {:.5f},{:.5f} point pt {} ps 0.8 lc {} front\n", 1000 + i, x((left + right) / 2),
                           y(middle), symbol(style), colour(style));
      out += fmt::format("set label {} {} at screen {:.5f},{:.5f} left front noenhanced\n", 2000 + i,
                         text(shortened(entry.series->name, entry.columns)), x(right + 0.05), y(middle));
    }
    return out;
  }

  /// Returns the commands that write names at 0, 1, … of an axis. gnuplot reads a tick's label as a format, in which %% prints one %.
  std::string names(const char* axis, const std::vector<std::string>& names, std::size_t columns, bool wrapped = false) {
    std::string out = fmt::format("set {}tics (", axis);
    const auto label = [&](const std::string& name) {
      std::string label;
      for (const char c : shortened(name, columns)) label += c == '%' ? "%%" : std::string(1, c);
      return text(label);
    };
    for (std::size_t i = 0; i < names.size(); ++i) {
      auto [first, second] = two_lines(names[i]);
      if (!wrapped || columns_of(names[i]) <= columns) first = names[i], second.clear();
      out += (i == 0 ? "" : ", ") + label(first);
      if (!second.empty()) out += ".\"\\n\"." + label(second);
      out += fmt::format(" {}", i);
    }
    return out + ") noenhanced\n";
  }

  std::string lines(const FigurePanel& panel, const PanelPlace& place) {
    std::string out, plots;
    const auto add = [&](const std::string& plot) { plots += (plots.empty() ? "plot " : ", ") + plot + " notitle"; };
    if (!panel.background.empty()) {
      out += "set border 11\n" + axis("y2", place.background);
      add(fmt::format("{} using 1:2:(0.8) axes x1y2 with boxes fc rgb \"#D9D9D9\" fs solid noborder", block(panel.background)));
    }
    if (panel.log_x) out += "set logscale x 2\n";
    const double span = place.x.to - place.x.from;
    std::vector<std::string> data;
    for (std::size_t s = 0; s < panel.series.size(); ++s) {
      std::vector<FigurePoint> points = panel.series[s].points;
      const double aside = static_cast<double>(s) - static_cast<double>(panel.series.size() - 1) / 2;
      if (has_intervals(panel.series[s]) && !panel.bands)  // so that intervals at the same x do not overlap
        for (FigurePoint& point : points) point.x = panel.log_x ? point.x * std::pow(1.03, aside) : point.x + 0.008 * aside * span;
      data.push_back(block(points));
      if (panel.bands)
        add(fmt::format("{} using 1:3:4 with filledcurves fc {} fs transparent solid 0.12 noborder", data[s],
                        colour(panel.series[s].style)));
    }
    for (std::size_t s = 0; s < panel.series.size(); ++s) {
      const FigureSeries& series = panel.series[s];
      if (!panel.bands && has_intervals(series)) add(error_bars(data[s], colour(series.style)));
      const std::size_t every = std::max<std::size_t>(series.points.size() / 6, 1);
      add(fmt::format("{} using 1:2 with linespoints lw 1.4 dt {} lc {} pt {} ps 0.6{}", data[s], dash(series.style), colour(series.style),
                      symbol(series.style), series.points.size() > few_points ? fmt::format(" pi {}", every) : ""));
    }
    return out + plots + "\n";
  }

  std::string steps(const FigurePanel& panel, const PanelPlace& place) {
    std::string out, plots;
    for (const FigureSeries& series : panel.series) {
      const std::string data = block(series.points);
      const auto add = [&](const std::string& how) {
        plots += fmt::format("{}{} using 1:2 {} notitle", plots.empty() ? "plot " : ", ", data, how);
      };
      if (panel.filled) add(fmt::format("with fillsteps fc {} fs solid 0.6 noborder", colour(series.style)));
      add(panel.filled ? "with steps lw 0.8 lc rgb \"black\""
                       : fmt::format("with steps lw 1.4 dt {} lc {}", dash(series.style), colour(series.style)));
    }
    const double span = place.x.to - place.x.from;
    for (std::size_t m = 0; m < panel.marks.size(); ++m) {
      const FigureMark& mark = panel.marks[m];
      const double at = (mark.x - place.x.from) / span;
      bool near_left = false, near_right = false;  // the text of another mark is so near that centred texts could touch
      for (const FigureMark& other : panel.marks) {
        const double apart = std::fabs(other.x - mark.x) / span * (place.right - place.left);
        const bool near = !other.text.empty() && apart < 0.5 * (text_width(mark.text) + text_width(other.text)) + 0.1;
        near_left |= near && other.x < mark.x;
        near_right |= near && other.x > mark.x;
      }
      out += fmt::format("set arrow {} from {}, graph 0 to {}, graph 1 nohead front lw {:.2f} dt {} lc {}\n", 6000 + m, script_number(mark.x),
                         script_number(mark.x), own_width(1.2, m), m == 0 ? "1" : m == 1 ? "(4,3)" : "(1.5,2.5)", m == 0 ? "rgb \"#D55E00\"" : "rgb \"black\"");
      if (!mark.text.empty())
        out += fmt::format("set label {} {} at {}, graph 1 {} offset 0,0.6 front noenhanced\n", 6000 + m, text(mark.text), script_number(mark.x),
                           near_left || at < 0.2    ? "left"
                           : near_right || at > 0.8 ? "right"
                                                    : "center");
    }
    return out + plots + "\n";
  }

  std::string field(const FigurePanel& panel, const PanelPlace& place) {
    const std::string name = fmt::format("$cells{}", ++data_);
    blocks_ += name + " << END_OF_DATA\n" + field_cells(panel) + "END_OF_DATA\n";
    return field_commands(panel, place.background, {x(place.right + 0.06), y(place.bottom), x(0.09), y(place.top) - y(place.bottom)}, name);
  }

  std::string bars(const FigurePanel& panel, const PanelPlace& place) {
    std::string out = names("x", panel.x_names, place.tilted_names ? tilted_columns : 64), plots;
    if (place.tilted_names) out += "set xtics rotate by 45 right\n";
    out += fmt::format("set xrange [-0.5:{}]\n{}", static_cast<double>(panel.x_names.size()) - 0.5,
                       place.y.from < 0 ? "set xzeroaxis lt -1 lw 0.6\n" : "");
    const double width = 0.8 / static_cast<double>(panel.series.size());
    for (std::size_t s = 0; s < panel.series.size(); ++s) {
      const FigureSeries& series = panel.series[s];
      std::vector<FigurePoint> points = series.points;
      for (FigurePoint& point : points) point.x += width * (static_cast<double>(s) + 0.5) - 0.4;
      const std::string data = block(points);
      plots += fmt::format("{}{} using 1:2:({}) with boxes fc {} fs {} notitle", plots.empty() ? "plot " : ", ", data, 0.92 * width,
                           colour(series.style), fill(series.style));
      if (has_intervals(series)) plots += ", " + error_bars(data, "rgb \"#808080\"") + " notitle";
    }
    return out + plots + "\n";
  }

  std::string forest(const FigurePanel& panel, const PanelPlace& place) {
    std::vector<std::string> beside = panel.y_names;
    std::string headings, plots;
    for (std::size_t line = 0; line < beside.size(); ++line)
      if (is_heading(panel, line)) {
        headings += fmt::format("set label {} {} at screen {:.5f}, first {} left front noenhanced\n", 3000 + line,
                                text(shortened(beside[line], place.title_columns)), x(place.outer_left), line);
        beside[line].clear();
      }
    const std::string out = names("y", beside, place.name_columns, place.wrapped_names) + headings +
                            fmt::format(
                                "set border 1\nset ytics scale 0\nset yrange [{}:-0.6]\n"
                                "set arrow 5000 from 0, graph 0 to 0, graph 1 nohead back lw 0.8 lc rgb \"#888888\"\n",
                                static_cast<double>(beside.size()) - 0.4);
    const auto add = [&](const std::string& plot) { plots += (plots.empty() ? "plot " : ", ") + plot + " notitle"; };
    for (const FigureSeries& series : panel.series)
      for (const FigurePoint& point : series.points) {
        const std::string data = block({point}), line_colour = colour(series.style);
        const int filled = symbol(series.style);
        if (std::isfinite(point.hi - point.lo)) add(fmt::format("{} using 1:2:3:4 with xerrorbars pt 0 lw 1.1 lc {}", data, line_colour));
        if (!point.filled)  // a white symbol below the open one, so that the interval ends at its edge; a cross has no inside, and gets a disc
          add(fmt::format("{} using 1:2 with points pt {} ps 0.9 lw 1.1 lc rgb \"white\"", data, filled == symbol_of[series_symbols - 1] ? symbol_of[0] : filled));
        add(fmt::format("{} using 1:2 with points pt {} ps 0.9 lw 1.1 lc {}", data, filled - (point.filled ? 0 : 1), line_colour));
      }
    return out + plots + "\n";
  }

  std::string ridges(const FigurePanel& panel, const PanelPlace& place) {
    const double most = highest_ridge(figure_);
    const std::string out = names("y", panel.y_names, place.name_columns, place.wrapped_names) +
                            fmt::format("set border 1\nset ytics scale 0\nset yrange [{}:-0.6]\n", static_cast<double>(panel.y_names.size()) - 0.5);
    std::string plots;
    for (std::size_t s = 0; s < panel.series.size(); ++s) {
      const std::string data = block(ridge_outline(panel.series[s].points, s, most)), of = colour(panel.series[s].style);
      plots += fmt::format("{0}{1} using 1:2 with filledcurves closed fc {2} fs transparent solid 0.35 noborder notitle, {1} using 1:2 with lines lw 1 lc {2} notitle",
                           plots.empty() ? "plot " : ", ", data, of);
    }
    return out + plots + "\n";
  }

  std::string heatmap(const FigurePanel& panel, const PanelPlace& place) {
    double least = std::numeric_limits<double>::infinity(), largest = -least;
    for (const FigureSeries& series : panel.series)
      for (const FigurePoint& point : series.points) {
        least = std::min(least, point.y);
        largest = std::max(largest, point.y);
      }
    if (!(largest > least)) largest = least + 1;
    std::string cells, light, dark;
    for (std::size_t s = 0; s < panel.series.size(); ++s)
      for (const FigurePoint& point : panel.series[s].points) {
        cells += fmt::format("{} {} {}\n", script_number(point.x), s, script_number(point.y));
        (point.y < least + 0.55 * (largest - least) ? light : dark) +=
            fmt::format("{} {} {:.{}f}\n", script_number(point.x), s, point.y, panel.decimals);
      }
    const int id = ++data_;
    for (const auto& [name, rows] : {std::pair{"cells", cells}, {"light", light}, {"dark", dark}})
      blocks_ += fmt::format("${}{} << END_OF_DATA\n{}END_OF_DATA\n", name, id, rows);
    std::string out = names("x", panel.x_names, place.tilted_names ? tilted_columns : 64) + names("y", panel.y_names, place.name_columns);
    if (place.tilted_names) out += "set xtics rotate by 45 right\n";
    out += fmt::format(
        "unset border\nset tics scale 0\nset xrange [-0.5:{}]\nset yrange [{}:-0.5]\nset cbrange [{}:{}]\n"
        "set colorbox user origin screen {:.5f},{:.5f} size screen {:.5f},{:.5f} noborder\n"
        "{}",
        static_cast<double>(panel.x_names.size()) - 0.5, static_cast<double>(panel.y_names.size()) - 0.5, script_number(least), script_number(largest),
        x(place.right + 0.06), y(place.bottom), x(0.09), y(place.top) - y(place.bottom), palette_commands(false, {}));
    out += "set cbtics (";
    bool first = true;
    for (std::size_t i = 0; i < place.y.ticks.size(); ++i) {
      if (place.y.ticks[i] < least || place.y.ticks[i] > largest) continue;
      out += fmt::format("{}\"{}\" {}", first ? "" : ", ", place.y.labels[i], script_number(place.y.ticks[i]));
      first = false;
    }
    out += ") offset -0.6,0 scale 0\n";
    std::string plots = fmt::format(
        "plot $cells{} using 1:2:($1-0.48):($1+0.48):($2-0.47):($2+0.47):3 with boxxyerror fc palette fs solid noborder notitle", id);
    const bool fits =
        number_width(panel) <= (place.right - place.left) / static_cast<double>(std::max<std::size_t>(panel.x_names.size(), 1));
    if (!light.empty() && fits)
      plots += fmt::format(", $light{} using 1:2:(sprintf(\"%.{}f\", $3)) with labels tc rgb \"white\" notitle", id, panel.decimals);
    if (!dark.empty() && fits)
      plots += fmt::format(", $dark{} using 1:2:(sprintf(\"%.{}f\", $3)) with labels tc rgb \"black\" notitle", id, panel.decimals);
    return out + plots + "\n";
  }

  const Figure& figure_;
  FigureLayout layout_;
  FigureFormat format_;
  std::string texts_, blocks_;
  std::size_t count_ = 0;
  int data_ = 0;
};

}  // namespace

std::string figure_script(const Figure& figure, FigureFormat format, FigureSize size) { return Script(figure, format, size).text(); }

}  // namespace odrpo
