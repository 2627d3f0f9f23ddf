// Figures: axes, layout, builders against the tables they are made of, scripts that nothing in a name can change, and gnuplot itself.
#include "results/figure/figure.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <random>
#include <sstream>

#include "results/figure/parts.hpp"
#include "results/table/render/cell_texts.hpp"
#include "tests/catch.hpp"
#include "tests/results/table/table_sample.hpp"

namespace odrpo {
namespace {

using sample::nan;

TableModel sample_table(const char* baseline = "maxrl") {
  static const ResultFile file = sample::file_of(sample::some_runs({0.1}));
  TableSpec spec;
  spec.baseline = baseline;
  return make_table(file, spec);
}

std::vector<SeriesStyle> plain_styles(std::size_t count) { return distinct_styles(std::vector<SeriesStyle>(count)); }

const std::vector<std::string> hostile = {"$(touch pwned)",
                                          "`touch pwned`",
                                          "\" ; system('touch pwned') #",
                                          "'; system \"touch pwned\"",
                                          "</script><script>",
                                          "a & b < c > d",
                                          "100 % %s %d %",
                                          "END_OF_TEXTS",
                                          "END_OF_DATA",
                                          "\\n\\t\\\\ {/Symbol a}_2^3 @x",
                                          std::string(64, 'W'),
                                          "\xC3\xA9t\xC3\xA9 \xE4\xB8\xAD",
                                          "-0.5"};

/// A figure of every kind of panel, whose every text is hostile.
Figure hostile_figure() {
  Figure figure{"caption", {}};
  for (const PanelKind kind :
       {PanelKind::lines, PanelKind::steps, PanelKind::bars, PanelKind::forest, PanelKind::heatmap, PanelKind::field, PanelKind::ridges}) {
    FigurePanel panel;
    panel.kind = kind;
    panel.title = hostile[0];
    panel.x_label = hostile[1];
    panel.y_label = hostile[2];
    panel.bands = true;
    const bool forest = kind == PanelKind::forest;
    for (std::size_t i = 0; i < hostile.size(); ++i) {
      const double n = static_cast<double>(i);
      if (kind == PanelKind::bars || kind == PanelKind::heatmap) panel.x_names.push_back(hostile[i]);
      if (forest || kind == PanelKind::heatmap || kind == PanelKind::ridges) panel.y_names.push_back(hostile[i]);
      panel.series.push_back({hostile[i], SeriesStyle{static_cast<int>(i) % series_colours, 0, 0}, {}});
      if (kind == PanelKind::steps) panel.marks.push_back({0.5, hostile[i]});
      if (forest) panel.series.back().points = {{0.5, n, 0.1, 1}};
      else panel.series.back().points = {{0, 1 + n, 0.5, 2 + n}, {1, 2 + n, 1, 3 + n}};
    }
    if (kind == PanelKind::lines) {
      panel.background = {{0, 0.5, nan, nan}};
      panel.background_label = hostile[3];
    }
    figure.panels.push_back(panel);
  }
  return figure;
}

}  // namespace

TEST_CASE("ticks are round, lie on the axis and are as many as may be", "[figure]") {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (int i = 0; i < 2000; ++i) {
    const double middle = unit(random) * std::pow(10, 6 * unit(random)), span = std::pow(10, 4 * unit(random));
    const std::size_t most = 2 + random() % 8;
    const NumberRange range{middle - span / 2, middle + span / 2, random() % 4 == 0};
    const FigureAxis axis = axis_of(range, most);
    INFO("from " << range.from << " to " << range.to << ", " << most << " ticks, seed 3");
    REQUIRE(axis.from <= range.from);
    REQUIRE(axis.to >= range.to);
    REQUIRE(axis.ticks.size() == axis.labels.size());
    CHECK(axis.ticks.size() <= std::max<std::size_t>(most + 1, 6));
    CHECK(axis.ticks.size() >= 2);
    for (std::size_t t = 0; t < axis.ticks.size(); ++t) {
      CHECK(axis.ticks[t] >= axis.from - 1e-6 * span);
      CHECK(axis.ticks[t] <= axis.to + 1e-6 * span);
      if (span > 1e-3 * std::fabs(middle))
        CHECK(std::stod(axis.labels[t]) == Approx(axis.ticks[t]).margin(0.006 * std::max(span, std::fabs(middle))));
    }
  }
  const FigureAxis one = axis_of({3, 3}, 5);  // a single number has an axis too
  CHECK(one.from < 3);
  CHECK(one.to > 3);
  CHECK(axis_of(NumberRange{1, 0}, 5).to > 0);  // and none
}

TEST_CASE("labels of ticks have the digits that tell them apart, and exponents as people write them", "[figure]") {
  using Labels = std::vector<std::string>;
  CHECK(axis_of({0, 300'000, true}, 4).labels == Labels{"0", "100000", "200000", "300000"});
  CHECK(axis_of({1'000'000, 1'000'500}, 3).labels == Labels{"1000000", "1000200", "1000400"});
  CHECK(axis_of({0, 2.4e7, true}, 5).labels == Labels{"0", "5e6", "1.0e7", "1.5e7", "2.0e7"});
  CHECK(axis_of({0, 4e-5, true}, 4).labels == Labels{"0", "2e-5", "4e-5"});
  CHECK(axis_of({-0.2, 0.2}, 4).labels == Labels{"-0.2", "0", "0.2"});
  CHECK(axis_at({1e-5, 0.3, 100'000, 1e6}, {1e-5, 1e6}, true).labels == Labels{"1e-5", "0.3", "100000", "1e6"});
}

TEST_CASE("panels and key lie on the page and do not overlap", "[figure]") {
  std::mt19937 random(5);
  for (int i = 0; i < 300; ++i) {
    Figure figure{"", {}};
    const std::size_t panels = 1 + random() % 9;
    for (std::size_t p = 0; p < panels; ++p) {
      FigurePanel panel;
      panel.kind = static_cast<PanelKind>(random() % 7);
      panel.title = std::string(random() % 30, 't');
      const std::size_t rows = 1 + random() % 6;
      for (std::size_t s = 0; s < rows; ++s) {
        panel.series.push_back({"name " + std::to_string(s) + std::string(random() % 40, 'x'), {}, {{0, 1, 0.5, 1.5}, {1e4, 2e5, 1, 3e5}}});
        panel.y_names.push_back(std::string(1 + random() % 60, 'y'));
      }
      if (panel.kind == PanelKind::bars || panel.kind == PanelKind::heatmap) {
        panel.x_names = {"a", std::string(random() % 50, 'b'), std::string(random() % 20, 'c')};
        std::shuffle(panel.x_names.begin(), panel.x_names.end(), random);
      }
      figure.panels.push_back(panel);
    }
    const double width = random() % 2 == 0 ? 3.25 : 5.5;
    const FigureLayout layout = layout_of(figure, {width, random() % 3 == 0 ? 40.0 : 0.0});
    INFO("figure " << i << ", seed 5");
    REQUIRE(layout.panels.size() == panels);
    for (std::size_t a = 0; a < panels; ++a) {
      const PanelPlace& p = layout.panels[a];
      CHECK(p.outer_left >= 0);
      CHECK(p.left < p.right);
      CHECK(p.top < p.bottom);
      CHECK(p.outer_right <= width);
      CHECK(p.outer_bottom <= layout.height + 1e-9);
      const auto& names = figure.panels[a].x_names;
      for (std::size_t n = 0; p.tilted_names && n < names.size(); ++n) {  // each ends below its column and begins on the panel
        const double column = p.left + (static_cast<double>(n) + 0.5) / static_cast<double>(names.size()) * (p.right - p.left);
        CHECK(column - 0.72 * std::min(text_width(names[n]), text_width(std::string(tilted_columns, 'b'))) >= p.outer_left - 0.1);
      }
      for (std::size_t b = a + 1; b < panels; ++b) {
        const PanelPlace& q = layout.panels[b];
        CHECK((p.outer_right <= q.outer_left || p.outer_bottom <= q.top + 1e-9));
      }
      for (const KeyPlace& key : layout.key) {
        CHECK(key.top > p.bottom);
        CHECK(key.top < layout.height);
        CHECK(key.left >= 0);
      }
    }
  }
}

TEST_CASE("a page that is too low for its panels is refused", "[figure]") {
  const Figure figure = hostile_figure();
  CHECK_THROWS_AS(layout_of(figure, {3.25, 2}), Failure);
  CHECK(layout_of(figure, {3.25, 40}).height == Approx(40));
  CHECK(layout_of(figure, {3.25, 0}).height > 5);
}

TEST_CASE("every series has a look of its own", "[figure]") {
  for (std::size_t count = 1; count <= series_colours * series_dashes; ++count) {
    const auto styles = distinct_styles(std::vector<SeriesStyle>(count, SeriesStyle{2, 1, 3}));
    CHECK(styles[0] == SeriesStyle{2, 1, 3});
    for (std::size_t a = 0; a < count; ++a)
      for (std::size_t b = a + 1; b < count; ++b) CHECK((styles[a].colour != styles[b].colour || styles[a].dash != styles[b].dash));
  }
}

TEST_CASE("lines, bars, forest and heat map show the cells of their table", "[figure]") {
  const TableModel table = sample_table();
  const auto styles = plain_styles(table.rows.size());
  for (const Figure& figure : {lines_figure({&table, 1}, styles, false), bars_figure(table, styles), heatmap_figure(table)}) {
    REQUIRE(figure.panels.size() == 1);
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      const FigureSeries& series = figure.panels[0].series[r];
      CHECK(series.name == table.rows[r]);
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const TableCell& cell = table.blocks[0].cells[r * table.columns.size() + c];
        const FigurePoint& point = series.points[c];
        CHECK(point.x == (figure.panels[0].kind == PanelKind::lines ? std::stod(table.columns[c]) : static_cast<double>(c)));
        CHECK(point.y == cell.centre);
        CHECK(point.lo == cell.lo);
        CHECK(point.hi == cell.hi);
      }
    }
  }
  const Figure forest = forest_figure(table, styles);
  REQUIRE(forest.panels.size() == 1);
  REQUIRE(forest.panels[0].series.size() == 2);  // one row is compared, at two votes
  for (std::size_t c = 0; c < 2; ++c) {
    const TableCell& cell = table.blocks[0].cells[table.columns.size() + c];
    const FigurePoint& point = forest.panels[0].series[c].points[0];
    CHECK(point.x == cell.comparison.difference.mean);
    CHECK(point.lo == cell.comparison.difference.lo);
    CHECK(point.hi == cell.comparison.difference.hi);
    CHECK(point.y == static_cast<double>(c));
    CHECK(point.filled == is_significant(cell.comparison, table.spec));
    CHECK(forest.panels[0].y_names[c] == "votes=" + table.columns[c]);
  }
  CHECK(forest.panels[0].title == "odrpo-gini(maxrl)");  // one compared row: its name is written once
  CHECK_THROWS_AS(forest_figure(sample_table(""), styles), Failure);
}

TEST_CASE("a forest of several rows and columns has a heading for each column", "[figure]") {
  TableModel table = sample_table();
  table.rows.push_back("grpo");
  for (std::size_t c = 0; c < 2; ++c) table.blocks[0].cells.push_back(table.blocks[0].cells[2 + c]);
  const Figure figure = forest_figure(table, plain_styles(3));
  const FigurePanel& panel = figure.panels[0];
  CHECK(panel.y_names == std::vector<std::string>{"votes=1", "odrpo-gini(maxrl)", "grpo", "votes=8", "odrpo-gini(maxrl)", "grpo"});
  for (std::size_t line = 0; line < 6; ++line) CHECK(is_heading(panel, line) == (line % 3 == 0));
  const std::string csv = figure_csv(figure);
  CHECK(csv.find(",\"grpo, votes=8\",") != std::string::npos);
  const FigureLayout layout = layout_of(figure, {3.25, 0});
  CHECK(layout.panels[0].right - layout.panels[0].left > 0.5 * 3.25);  // the plot has more than half of the width
}

TEST_CASE("long names of a forest stand in two lines", "[figure]") {
  using Lines = std::pair<std::string, std::string>;
  CHECK(two_lines("odrpo-gini-median(maxrl)") == Lines{"odrpo-gini-median", "(maxrl)"});
  CHECK(two_lines("outliers-0.05, maxrl") == Lines{"outliers-", "0.05, maxrl"});
  CHECK(two_lines("grpo") == Lines{"grpo", ""});
  FigurePanel panel;
  panel.kind = PanelKind::forest;
  panel.y_names = {"odrpo-gini-median(posterior-grpo)", "grpo"};
  for (double line = 0; line < 2; ++line) panel.series.push_back({"", {}, {{0.5, line, 0, 1}}});
  const PanelPlace place = layout_of({"", {panel}}, {3.25, 0}).panels[0];
  CHECK(place.wrapped_names);
  CHECK(place.right - place.left > 0.5 * 3.25);
  CHECK(figure_script({"", {panel}}, FigureFormat::svg, {3.25, 0}).find("set ytics (t1.\"\\n\".t2 0, t3 1) noenhanced") != std::string::npos);
}

TEST_CASE("the interval of a hollow symbol ends at the symbol's edge: a white one lies between", "[figure]") {
  FigurePanel panel;
  panel.kind = PanelKind::forest;
  panel.y_names = {"hollow", "filled"};
  panel.series = {{"hollow", {1, 0, 1}, {{0.5, 0, 0, 1, false}}}, {"filled", {1, 0, 1}, {{0.5, 1, 0, 1, true}}}};
  const std::string script = figure_script({"", {panel}}, FigureFormat::svg, {3.25, 0});
  CHECK(script.find("plot $d1 using 1:2:3:4 with xerrorbars pt 0 lw 1.1 lc rgb \"#0072B2\" notitle, "
                    "$d1 using 1:2 with points pt 5 ps 0.9 lw 1.1 lc rgb \"white\" notitle, "
                    "$d1 using 1:2 with points pt 4 ps 0.9 lw 1.1 lc rgb \"#0072B2\" notitle, "
                    "$d2 using 1:2:3:4 with xerrorbars pt 0 lw 1.1 lc rgb \"#0072B2\" notitle, "
                    "$d2 using 1:2 with points pt 5 ps 0.9 lw 1.1 lc rgb \"#0072B2\" notitle\n") != std::string::npos);
}

TEST_CASE("panels that readers compare have one range, unless that would leave two thirds of one empty", "[figure]") {
  const auto panel = [](const char* y_label, double lo, double hi) {
    FigurePanel made;
    made.x_label = "votes";
    made.y_label = y_label;
    made.series = {{"a", {}, {{1, (lo + hi) / 2, lo, hi}}}};
    return made;
  };
  const Figure near{"", {panel("gain", 64, 71), panel("gain", 66, 73), panel("regret", 0, 1)}};
  for (const std::size_t p : {0U, 1U}) {
    const NumberRange range = common_range(near, near.panels[p], range_of_y);
    CHECK(range.from == 64);
    CHECK(range.to == 73);
    const FigureAxis axis = layout_of(near, {5.5, 0}).panels[p].y;
    CHECK(axis.from == layout_of(near, {5.5, 0}).panels[0].y.from);
    CHECK(axis.to == layout_of(near, {5.5, 0}).panels[0].y.to);
  }
  CHECK(common_range(near, near.panels[2], range_of_y).to == 1);
  const Figure far{"", {panel("gain", 64, 71), panel("gain", 90, 97)}};
  CHECK(common_range(far, far.panels[0], range_of_y).to == 71);
  CHECK(common_range(far, far.panels[1], range_of_y).from == 90);
}

TEST_CASE("bars that would look alike are refused", "[figure]") {
  const auto refusal = [](double lo, double hi) -> std::string {
    FigurePanel panel;
    panel.kind = PanelKind::bars;
    panel.series = {{"a", {}, {{0, lo, nan, nan}}}, {"b", {}, {{0, hi, nan, nan}}}};
    try {
      check_bars({"", {panel}});
    } catch (const Failure& failure) {
      CHECK(failure.code == Exit::usage);
      return failure.what();
    }
    return "";
  };
  CHECK(refusal(92.1, 92.4) ==
        "bars begin at 0, and all bars of 92.1 to 92.4 would look alike: `plot forest` shows differences from a baseline, `plot votes` values over "
        "numbers, `plot heatmap` values as numbers");
  CHECK(refusal(-8, -7).starts_with("bars begin at 0, and all bars of -8 to -7 would look alike"));
  CHECK(refusal(3, 4).empty());
  CHECK(refusal(-1, 2).empty());
  CHECK(refusal(0, 1).empty());
  CHECK(refusal(0, 0).empty());
}

TEST_CASE("times of steps are labelled as such, in microseconds", "[figure]") {
  const ResultFile file = sample::file_of(sample::some_runs({0.1}));
  TableSpec spec;
  spec.value = {"seconds"};
  spec.baseline = "maxrl";
  const TableModel table = make_table(file, spec);
  const Figure lines = lines_figure({&table, 1}, plain_styles(2), false);
  CHECK(lines.panels[0].y_label == "step time [us]");
  CHECK(lines.panels[0].series[0].points[0].y == Approx(20));  // the median of 10, 20 and 30 us
  CHECK(lines.caption == "step time [us]: median and quartiles over 3 seeds (suite sample, digest 0123456789ab)");
  CHECK(forest_figure(table, plain_styles(2)).panels[0].x_label == "step time - maxrl [us]");
  CHECK(quantity_text({"modelled-seconds", "s", ""}) == "modelled step time [s]");
  CHECK(quantity_text({"judge_seconds", "", ""}) == "judge_seconds");
}

TEST_CASE("lines need numbers, heat maps one value", "[figure]") {
  const ResultFile file = sample::file_of(sample::some_runs({0.1}));
  TableSpec spec;
  spec.rows = "votes";
  spec.columns = "estimator";
  const TableModel words = make_table(file, spec);
  CHECK_THROWS_AS(lines_figure({&words, 1}, plain_styles(2), false), Failure);
  spec = {};
  spec.columns = "value";
  spec.value = {"gain", "regret"};
  const TableModel values = make_table(file, spec);
  CHECK_THROWS_AS(heatmap_figure(values), Failure);
  CHECK_THROWS_AS(histogram_figure(values, plain_styles(2)), Failure);
}

TEST_CASE("a histogram counts every run once", "[figure]") {
  const TableModel table = sample_table();
  const Figure figure = histogram_figure(table, plain_styles(table.rows.size()));
  REQUIRE(figure.panels.size() == table.columns.size());
  for (const FigurePanel& panel : figure.panels)
    for (std::size_t s = 0; s < panel.series.size(); ++s) {
      const auto& points = panel.series[s].points;
      const auto& values = table.blocks[0].cells[s * table.columns.size() + static_cast<std::size_t>(&panel - figure.panels.data())].values;
      double counted = 0;
      for (std::size_t i = 1; i + 1 < points.size(); ++i) {  // bin [x_i, x_i+1)
        double inside = 0;
        for (const auto& [seed, value] : values)
          inside += value >= points[i].x && (value < points[i + 1].x || (i + 2 == points.size() && value == points[i + 1].x));
        CHECK(points[i].y == inside);
        counted += points[i].y;
      }
      CHECK(counted == static_cast<double>(values.size()));
      CHECK(points.front().y == 0);
      CHECK(points.back().y == 0);
    }
}

TEST_CASE("histograms of more than three rows stand one below the other, on one scale", "[figure]") {
  TableModel table = sample_table();
  for (int more = 0; more < 2; ++more) {
    table.rows.push_back("row " + std::to_string(more));
    for (std::size_t c = 0; c < 2; ++c) table.blocks[0].cells.push_back(table.blocks[0].cells[c]);
  }
  const Figure figure = histogram_figure(table, plain_styles(4));
  for (const FigurePanel& panel : figure.panels) {
    CHECK(panel.kind == PanelKind::ridges);
    CHECK(panel.y_names == std::vector<std::string>{"maxrl", "odrpo-gini(maxrl)", "row 0", "row 1"});
    CHECK(panel.series[0].points.front().y == 0);  // counts, as without ridges
  }
  CHECK(figure.caption.ends_with("; heights: runs in a bin, 1 at most"));
  CHECK(histogram_figure(sample_table(), plain_styles(2)).panels[0].kind == PanelKind::steps);

  // bins [0, 1) with 2 runs and [1, 2) with 1, in row 3, where 4 runs are as high as a row may be
  const auto outline = ridge_outline({{0, 0, nan, nan}, {0, 2, nan, nan}, {1, 1, nan, nan}, {2, 0, nan, nan}}, 3, 4);
  const std::vector<std::pair<double, double>> expected = {{0, 0}, {0, 0}, {0, 2}, {1, 2}, {1, 1}, {2, 1}, {2, 0}};
  REQUIRE(outline.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(outline[i].x == expected[i].first);
    CHECK(outline[i].y == Approx(3.4 - 0.85 * expected[i].second / 4));
  }
}

TEST_CASE("a performance profile is the share of runs above each score", "[figure]") {
  const TableModel table = sample_table();
  const Figure figure = profile_figure(table, plain_styles(table.rows.size()));
  REQUIRE(figure.panels.size() == 1);
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    double last = 1;
    for (const FigurePoint& point : figure.panels[0].series[r].points) {
      double above = 0, all = 0;
      for (std::size_t c = 0; c < table.columns.size(); ++c)
        for (const auto& [seed, value] : table.blocks[0].cells[r * table.columns.size() + c].values) {
          above += value > point.x;
          all += 1;
        }
      CHECK(point.y == Approx(above / all).epsilon(1e-12));
      CHECK(point.y <= last);
      if (std::isfinite(point.lo)) {
        CHECK(point.lo <= point.y + 1e-12);
        CHECK(point.hi >= point.y - 1e-12);
      }
      last = point.y;
    }
    CHECK(figure.panels[0].series[r].points.front().y == 1);
    CHECK(last == 0);
  }
}

TEST_CASE("names stand in the block of texts alone", "[figure]") {
  const Figure figure = hostile_figure();
  for (const auto& format : figure_formats) {
    const std::string script = figure_script(figure, format.value, {5.5, 0});
    std::istringstream lines(script);
    std::string line;
    bool inside = false;
    int texts = 0;
    while (std::getline(lines, line)) {
      if (line == "END_OF_TEXTS") inside = false;
      if (inside) {
        CHECK(line.substr(0, 2) == "t ");
        ++texts;
      } else {
        for (const char* part : {"touch", "system", "script>", "WWWW", "Symbol", "a & b"}) CHECK(line.find(part) == std::string::npos);
      }
      if (line == "$texts << END_OF_TEXTS") inside = true;
    }
    CHECK(texts > 50);
  }
}

TEST_CASE("gnuplot draws hostile names as they are", "[figure]") {
  if (std::system("gnuplot --version > /dev/null 2>&1") != 0) {
    WARN("skipped: no gnuplot");
    return;
  }
  const sample::Scratch scratch;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(scratch.path);
  const Figure figure = hostile_figure();
  std::string svg, pdf, png;
  try {
    svg = draw_figure(figure, FigureFormat::svg, {8, 0});
    pdf = draw_figure(figure, FigureFormat::pdf, {5.5, 0});
    png = draw_figure(figure, FigureFormat::png, {3.25, 0});
  } catch (const Failure& failure) {
    std::filesystem::current_path(before);
    FAIL(failure.what());
  }
  std::filesystem::current_path(before);
  CHECK(std::filesystem::is_empty(scratch.path));  // no command ran
  CHECK(pdf.substr(0, 5) == "%PDF-");
  CHECK(png.substr(1, 3) == "PNG");
  const auto byte = [&](std::size_t at) { return static_cast<unsigned>(static_cast<unsigned char>(png[at])); };
  CHECK((byte(18) << 8 | byte(19)) == 975);  // 3.25 inches at 300 to the inch
  CHECK(svg.find("touch pwned") != std::string::npos);
  CHECK(svg.find("&lt;/script&gt;") + svg.find("&lt;/script>") != 2 * std::string::npos);
  CHECK(svg.find("<script") == std::string::npos);
  CHECK(svg.find("width=\"768\"") != std::string::npos);
}

TEST_CASE("the numbers of a figure are one line each", "[figure]") {
  const TableModel table = sample_table();
  const std::string csv = figure_csv(bars_figure(table, plain_styles(table.rows.size())));
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 1 + static_cast<std::ptrdiff_t>(table.rows.size() * table.columns.size()));
  CHECK(csv.substr(0, 19) == "panel,title,series,");
}

}  // namespace odrpo
