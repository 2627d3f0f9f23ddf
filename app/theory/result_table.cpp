// Writes a theory table as text, CSV and JSON, and draws its figures.
#include "app/theory/result_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "app/plot/plot.hpp"
#include "kernels/shared/json.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/output_file.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"
#include "results/figure/figure.hpp"
#include "results/scores/csv.hpp"

namespace odrpo::app {
namespace {

constexpr Word<TheoryFormat> theory_formats[] = {
    {TheoryFormat::text, "text", "aligned columns"},
    {TheoryFormat::csv, "csv", "one line for each row"},
    {TheoryFormat::json, "json", "one object"},
};

std::string shown_number(const TheoryCell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* count = std::get_if<long long>(&cell)) return std::to_string(*count);
  const double x = std::get<double>(cell);
  return std::isnan(x) ? "-" : fmt::format("{:.5g}", x == 0 ? 0.0 : x);
}

std::string as_text(const TheoryTable& table) {
  std::vector<TextColumn> columns;  // numbers are aligned to the right
  for (std::size_t c = 0; c < table.columns.size() && !table.rows.empty(); ++c) {
    columns.push_back({table.columns[c], {}, !std::holds_alternative<std::string>(table.rows[0][c])});
    for (const auto& row : table.rows) columns.back().rows.push_back(shown_number(row[c]));
  }
  std::string out = table.title + "\n\n" + side_by_side(columns, std::string::npos);
  if (!table.notes.empty() || !table.formulas.empty()) out += '\n';
  for (const std::string& formula : table.formulas) out += paragraph(formula, 0, 2);
  for (const std::string& note : table.notes) out += paragraph(note, 0, 2);
  return out;
}

std::string as_csv(const TheoryTable& table) {
  std::string out = joined(table.columns, csv_field, ",") + '\n';
  const auto field = [](const TheoryCell& cell) {
    const auto* number = std::get_if<double>(&cell);
    return number ? exact_text(*number) : csv_field(shown_number(cell));
  };
  for (const auto& row : table.rows) out += joined(row, field, ",") + '\n';
  return out;
}

std::string as_json(const TheoryTable& table) {
  Json out = {{"title", table.title}};
  for (const auto& [name, values] : table.facts) {
    Json list = Json::array();
    for (const double x : values) list.push_back(x);
    out[name] = values.size() == 1 ? list[0] : list;
  }
  out["rows"] = Json::array();
  for (const auto& row : table.rows) {
    Json one = Json::object();
    for (std::size_t c = 0; c < row.size(); ++c) {
      const auto* text = std::get_if<std::string>(&row[c]);
      const auto* count = std::get_if<long long>(&row[c]);
      one[table.columns[c]] = text ? Json(*text) : count ? Json(*count) : Json(std::get<double>(row[c]));
    }
    out["rows"].push_back(std::move(one));
  }
  out["formulas"] = table.formulas;
  out["notes"] = table.notes;
  return out.dump(2) + "\n";
}

}  // namespace

std::vector<std::string_view> theory_format_words() { return words_in(theory_formats); }

TheoryFormat theory_format(const TheoryOptions& o) {
  if (o.json && !o.format.empty() && o.format != "json")
    throw Failure(Exit::usage, "--json is --format json, and cannot stand beside --format " + shown(o.format));
  if (o.json) return TheoryFormat::json;
  if (o.format.empty()) return TheoryFormat::text;
  if (const auto format = find_word<TheoryFormat>(theory_formats, o.format)) return *format;
  fail(Exit::usage, "--format: \"{}\" is none of text, csv and json", shown(o.format));
}

std::string list_text(const std::vector<double>& numbers) {
  return joined(numbers, [](double x) { return fmt::format("{:.6g}", x); });
}

std::string theory_text(const TheoryTable& table, TheoryFormat format) {
  switch (format) {
    case TheoryFormat::csv: return as_csv(table);
    case TheoryFormat::json: return as_json(table);
    case TheoryFormat::text: break;
  }
  return as_text(table);
}

// Draws the figures: lines of mean absolute curl, and bars of leverage.

namespace {

constexpr double no_end = std::numeric_limits<double>::quiet_NaN();

template <class Point>
std::vector<std::string> names_in(const std::vector<Point>& points, std::string Point::*name) {
  std::vector<std::string> names;
  for (const Point& p : points)
    if (std::find(names.begin(), names.end(), p.*name) == names.end()) names.push_back(p.*name);
  return names;
}

void draw_to(Figure figure, const std::string& path) {
  write_output(path, draw_figure(figure, figure_format("--figure", path), {figure.panels.size() > 1 ? 5.5 : 3.25, 0}));
  print_note(fmt::format("{}: {}", printable_line(path), figure.caption));
}

}  // namespace

void draw_curl_figure(const std::vector<CurlPoint>& points, const std::string& path) {
  int levels = 0, members = 0;
  bool many_levels = false, many_members = false, eight = false;
  for (const CurlPoint& p : points) {
    many_levels = many_levels || p.levels != points[0].levels, many_members = many_members || p.members != points[0].members;
    levels = std::max(levels, p.levels), members = std::max(members, p.members);
    eight = eight || p.members == 8;
  }
  if (!many_levels && !many_members) fail(Exit::usage, "--figure: several --levels or --group-size are needed, to draw lines over them");
  if (eight) members = 8;
  const std::vector<std::string> names = names_in(points, &CurlPoint::estimator);
  const std::vector<SeriesStyle> styles = series_styles(names);
  Figure figure;
  figure.caption = fmt::format(
      "mean absolute curl over all 1 <= i, j <= K and all histograms of M - 2 members, exact; over K at M = {}, over M at K = {}", members,
      levels);
  const auto add = [&](const std::string& title, const std::string& x_label, const std::string& y_label, double CurlPoint::*y,
                       int CurlPoint::*x, const std::function<bool(const CurlPoint&)>& shows) {
    FigurePanel panel;
    panel.title = title, panel.x_label = x_label, panel.y_label = y_label;
    panel.y_from_zero = true;
    for (std::size_t n = 0; n < names.size(); ++n) {
      FigureSeries series{names[n], styles[n], {}};
      for (const CurlPoint& p : points)
        if (p.estimator == names[n] && shows(p)) series.points.push_back({static_cast<double>(p.*x), p.*y, no_end, no_end});
      std::sort(series.points.begin(), series.points.end(), [](const FigurePoint& a, const FigurePoint& b) { return a.x < b.x; });
      panel.series.push_back(std::move(series));
    }
    figure.panels.push_back(std::move(panel));
  };
  if (many_levels)
    add(fmt::format("M = {}", members), "levels K", "MAC", &CurlPoint::mac, &CurlPoint::levels,
        [&](const CurlPoint& p) { return p.members == members; });
  if (many_members) {
    const auto here = [&](const CurlPoint& p) { return p.levels == levels; };
    add(fmt::format("K = {}", levels), "group size M", "MAC", &CurlPoint::mac, &CurlPoint::members, here);
    add(fmt::format("K = {}", levels), "group size M", "(M - 1) MAC", &CurlPoint::curl, &CurlPoint::members, here);
  }
  draw_to(std::move(figure), path);
}

void draw_leverage_figure(const std::vector<LeveragePoint>& points, const std::string& caption, const std::string& path) {
  const std::vector<std::string> names = names_in(points, &LeveragePoint::estimator), outliers = names_in(points, &LeveragePoint::outlier);
  const std::vector<SeriesStyle> styles = series_styles(names);
  Figure figure;
  figure.caption = caption;
  const auto add = [&](const std::string& y_label, double LeveragePoint::*y) {
    FigurePanel panel;
    panel.kind = PanelKind::bars;
    panel.x_label = "the score becomes", panel.y_label = y_label;
    panel.x_names = outliers;
    for (std::size_t n = 0; n < names.size(); ++n) {
      FigureSeries series{names[n], styles[n], {}};
      for (const LeveragePoint& p : points)
        if (p.estimator == names[n])
          series.points.push_back(
              {static_cast<double>(std::find(outliers.begin(), outliers.end(), p.outlier) - outliers.begin()), p.*y, no_end, no_end});
      panel.series.push_back(std::move(series));
    }
    figure.panels.push_back(std::move(panel));
  };
  add("share of sum A^2", &LeveragePoint::share);
  add("growth of rms", &LeveragePoint::growth);
  draw_to(std::move(figure), path);
}

}  // namespace odrpo::app
