// Histograms with marks and fields of values: bins, ends of colours, axes of cells, and gnuplot itself.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "kernels/math.hpp"
#include "results/figure/figure.hpp"
#include "results/figure/parts.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

namespace {


FigurePanel field_of(std::vector<double> values, bool diverging, double from = undefined, double to = undefined) {
  const std::size_t columns = values.size();
  const ValueField field{"title", std::move(values), diverging, from, to};
  return fields_figure({&field, 1}, columns, "x", "y").panels[0];
}

void check_range(const FigurePanel& panel, double from, double to) {
  const NumberRange range = range_of_colours(panel);
  CHECK(range.from == from);
  CHECK(range.to == to);
}

}  // namespace

TEST_CASE("a histogram of values counts each once, edges to the right", "[figure]") {
  const std::vector<double> values = {0, 0.1, 0.2, 0.25, 0.999, 1};
  const Figure figure = values_histogram(values, 0, 1, 10, {{0.25, "median"}}, "W", "prompts");
  const auto& points = figure.panels[0].series[0].points;
  REQUIRE(points.size() == 12);
  double total = 0;
  for (const FigurePoint& p : points) total += p.y;
  CHECK(total == 6);
  CHECK(points[1].y == 1);   // 0
  CHECK(points[2].y == 1);   // 0.1
  CHECK(points[3].y == 2);   // 0.2, 0.25
  CHECK(points[10].y == 2);  // 0.999, 1
  CHECK(figure.panels[0].marks.size() == 1);
}

TEST_CASE("a field has a series for each row and an axis that begins at its first cell", "[figure]") {
  const ValueField field{"t", {1, 2, 3, 4, undefined, 6}};
  const Figure figure = fields_figure({&field, 1}, 3, "prompt", "response");
  REQUIRE(figure.panels[0].series.size() == 2);
  CHECK(figure.panels[0].series[1].points[0].y == 4);
  CHECK(std::isnan(figure.panels[0].series[1].points[1].y));
  for (const std::size_t count : {1u, 2u, 3u, 8u, 10u, 64u, 540u, 1000u}) {
    INFO(count);
    const FigureAxis axis = axis_of_cells(count, 8);
    CHECK(axis.from == 0.5);
    CHECK(axis.to == static_cast<double>(count) + 0.5);
    REQUIRE(!axis.ticks.empty());
    CHECK(axis.ticks.size() == axis.labels.size());
    CHECK(axis.ticks.front() >= 1);
    CHECK(axis.ticks.back() <= static_cast<double>(count));
    CHECK(std::is_sorted(axis.ticks.begin(), axis.ticks.end()));
  }
}

TEST_CASE("colours of a field reach from end to end, and white is 0 where they diverge", "[figure]") {
  check_range(field_of({1, 4, undefined}, false), 1, 4);
  check_range(field_of({2, 2}, false), 2, 3);
  check_range(field_of({undefined}, false), 0, 1);
  check_range(field_of({3, 4}, false, 1, 10), 1, 10);
  check_range(field_of({-1, 4}, true), -1, 4);
  check_range(field_of({-2, -1}, true), -2, 2);
  check_range(field_of({1, 3}, true), -3, 3);
  check_range(field_of({0, 0}, true), -1, 1);
  check_range(field_of({undefined}, true), -1, 1);
}

TEST_CASE("undefined cells of a field are NaN for gnuplot, and its texts stand in the block of texts", "[figure]") {
  Figure figure = fields_figure(std::vector<ValueField>{{"$(touch pwned)", {1, undefined}, false}, {"b", {-1, 2}, true}}, 2, "`x`", "\"y");
  const std::string script = figure_script(figure, FigureFormat::svg, {5.5, 0});
  CHECK(script.find("NaN") != std::string::npos);
  CHECK(script.find("$(touch") < script.find("END_OF_TEXTS\n", script.find("END_OF_TEXTS\n") + 1));
  CHECK(script.find("touch", script.find("set terminal")) == std::string::npos);
  const FigureLayout layout = layout_of(figure, {5.5, 0});
  CHECK(layout.panels[0].left == layout.panels[1].left);
  CHECK(layout.panels[0].right == layout.panels[1].right);
  CHECK(layout.panels[0].outer_bottom <= layout.panels[1].top);
}

TEST_CASE("gnuplot draws histograms with marks and fields", "[figure]") {
  if (std::system("command -v gnuplot >/dev/null 2>&1") != 0) return;
  const Figure histogram =
      values_histogram(std::vector<double>{0.2, 0.5, 0.6}, 0, 1, 20, {{0.5, "100 % \" `x`"}, {0.1, "chance"}}, "W", "n");
  const Figure fields =
      fields_figure(std::vector<ValueField>{{"mean", {1, 2, 3, undefined}, false, 1, 5}, {"skew", {-1, 0, 1, 2}, true}}, 2, "x", "y");
  for (const Figure& figure : {histogram, fields}) {
    const std::string svg = draw_figure(figure, FigureFormat::svg, {5.5, 0});
    CHECK(svg.find("</svg>") != std::string::npos);
    CHECK(draw_figure(figure, FigureFormat::png, {3.25, 0}).starts_with("\x89PNG"));
  }
  CHECK(draw_figure(histogram, FigureFormat::svg, {5.5, 0}).find("`x`") != std::string::npos);
  CHECK(draw_figure(fields, FigureFormat::svg, {5.5, 0}).find("<image") != std::string::npos);
}
