// Panels of lines and bars from theory tables.
#include "app/theory/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "app/plot/figure_style.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/output_file.hpp"
#include "kernels/system/terminal.hpp"
#include "results/figure/figure.hpp"

namespace odrpo::app {
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
  if (!many_levels && !many_members)
    throw Failure(Exit::usage, "--figure: several --levels or --group-size are needed, to draw lines over them");
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
