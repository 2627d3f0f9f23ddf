// Builds figures of the runs of cells (histograms, performance profiles), and of values that come from no table.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/math.hpp"
#include "kernels/system/fail.hpp"
#include "results/figure/figure.hpp"
#include "results/figure/parts.hpp"
#include "results/stats/aggregate_metrics.hpp"
#include "results/stats/bootstrap.hpp"
#include "results/table/render/cell_texts.hpp"

namespace odrpo {
namespace {

constexpr int profile_points = 61, resamples = 1000;
constexpr double level = 0.95;      // of the intervals of a profile
constexpr double most_work = 2e10;  // most additions for one profile: about a minute

void must_be_one_value(const TableModel& table, const char* what) {
  if (table.values.size() > 1 || table.spec.over_values())
    fail(Exit::usage, "a {} shows the runs of one value; --value names it, and --rows and --columns name axes", what);
}

std::vector<double> values_of(const TableCell& cell) {
  std::vector<double> values;
  for (const auto& v : cell.values) values.push_back(v.second);
  return values;
}

/// Collects the numbers of one row of a table in these tasks (cells); the unit of each run is its seed.
UnitScores scores_of(const std::vector<const TableCell*>& tasks) {
  TaskScores scores;
  std::vector<std::vector<std::uint32_t>> seeds(tasks.size());
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    scores.push_back(values_of(*tasks[t]));
    for (const auto& v : tasks[t]->values) seeds[t].push_back(static_cast<std::uint32_t>(v.first));
  }
  return by_unit(std::move(scores), seeds);
}

/// Returns the edges of 5 to 40 bins of equal width over all values, by the rule of Freedman and Diaconis.
std::vector<double> bin_edges(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const double least = values.front(), largest = values.back();
  const double spread = quantile(values, 0.75) - quantile(values, 0.25);
  const double width = 2 * spread / std::cbrt(static_cast<double>(values.size()));
  const double wanted = width > 0 ? std::ceil((largest - least) / width) : 5;
  const int bins = static_cast<int>(std::clamp(wanted, 5.0, 40.0));
  const double step = largest > least ? (largest - least) / bins : 1;
  const double from = largest > least ? least : least - 2.5;
  std::vector<double> edges;
  for (int i = 0; i <= bins; ++i) edges.push_back(from + step * i);
  return edges;
}

/// Counts values per bin, as points for PanelKind::steps: first 0, then each bin's count at its left edge, last 0.
std::vector<FigurePoint> outline(const std::vector<double>& values, const std::vector<double>& edges) {
  std::vector<double> counts(edges.size() - 1);
  for (const double value : values) {
    const auto right = std::upper_bound(edges.begin() + 1, edges.end() - 1, value);
    counts[static_cast<std::size_t>(right - edges.begin()) - 1] += 1;
  }
  std::vector<FigurePoint> points{{edges[0], 0, undefined, undefined}};
  for (std::size_t i = 0; i < counts.size(); ++i) points.push_back({edges[i], counts[i], undefined, undefined});
  points.push_back({edges.back(), 0, undefined, undefined});
  return points;
}

}  // namespace

Figure histogram_figure(const TableModel& table, std::span<const SeriesStyle> styles) {
  must_be_one_value(table, "histogram");
  Figure figure{fmt::format("runs by {}{}", quantity_text(table.values[0]), source_text(table)), {}};
  const std::size_t width = table.columns.size();
  for (const TableBlock& block : table.blocks)
    for (std::size_t c = 0; c < width; ++c) {
      FigurePanel panel;
      panel.kind = PanelKind::steps;
      panel.title = block_text(table, block, false);
      if (width > 1) add_item(panel.title, table.spec.columns + "=" + table.columns[c]);
      panel.x_label = quantity_text(table.values[0]);
      panel.y_label = "runs";
      std::vector<double> all;
      for (std::size_t r = 0; r < table.rows.size(); ++r)
        for (const double value : values_of(block.cells[r * width + c])) all.push_back(value);
      if (all.empty()) continue;
      const std::vector<double> edges = bin_edges(all);
      for (std::size_t r = 0; r < table.rows.size(); ++r)
        if (const auto values = values_of(block.cells[r * width + c]); !values.empty())
          panel.series.push_back({series_name(table, r), styles[r], outline(values, edges)});
      if (panel.series.size() > most_outlines) panel.kind = PanelKind::ridges;
      for (const FigureSeries& series : panel.series)
        if (panel.kind == PanelKind::ridges) panel.y_names.push_back(series.name);
      figure.panels.push_back(std::move(panel));
    }
  check_panels(figure);
  if (const double most = highest_ridge(figure); most > 0) figure.caption += fmt::format("; heights: runs in a bin, {:.0f} at most", most);
  return figure;
}

double highest_ridge(const Figure& figure) {
  double most = 0;
  for (const FigurePanel& panel : figure.panels)
    if (panel.kind == PanelKind::ridges) most = std::max(most, range_of_y(panel).to);
  return most;
}

std::vector<FigurePoint> ridge_outline(const std::vector<FigurePoint>& steps, std::size_t row, double most) {
  std::vector<FigurePoint> outline;
  for (std::size_t i = 0; i < steps.size(); ++i)
    for (std::size_t j = i == 0 ? 0 : i - 1; j <= i; ++j)
      outline.push_back({steps[i].x, static_cast<double>(row) + 0.4 - 0.85 * steps[j].y / most, undefined, undefined});
  return outline;
}

Figure profile_figure(const TableModel& table, std::span<const SeriesStyle> styles, std::uint64_t seed) {
  must_be_one_value(table, "performance profile");
  const std::size_t width = table.columns.size();
  const auto cell = [&](std::size_t row, std::size_t task) -> const TableCell& {
    return table.blocks[task / width].cells[row * width + task % width];
  };
  std::vector<std::size_t> rows, tasks;  // rows that have a run; tasks in which all of these rows have runs
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    for (std::size_t t = 0; t < table.blocks.size() * width; ++t)
      if (cell(r, t).n > 0) {
        rows.push_back(r);
        break;
      }
  double runs = 0, least = std::numeric_limits<double>::infinity(), largest = -least;
  for (std::size_t t = 0; t < table.blocks.size() * width; ++t) {
    if (!std::all_of(rows.begin(), rows.end(), [&](std::size_t r) { return cell(r, t).n > 0; })) continue;
    tasks.push_back(t);
    for (const std::size_t r : rows)
      for (const auto& v : cell(r, t).values) {
        least = std::min(least, v.second);
        largest = std::max(largest, v.second);
        runs += 1;
      }
  }
  if (rows.empty() || tasks.empty()) fail(Exit::usage, "there is nothing to draw: no column of a block has runs of all rows");
  if (runs * profile_points * resamples > most_work)
    fail(Exit::limits, "a profile of {:.0f} runs with its bootstrap takes minutes; choose fewer rows or columns", runs);
  const double margin = largest > least ? 0.02 * (largest - least) : 1;
  FigurePanel panel;
  panel.bands = panel.y_from_zero = true;
  panel.x_label = fmt::format("score tau: {}", quantity_text(table.values[0]));
  panel.y_label = "share of runs above tau";
  for (const std::size_t r : rows) {
    std::vector<const TableCell*> cells;
    for (const std::size_t t : tasks) cells.push_back(&cell(r, t));
    const UnitScores scores = scores_of(cells);
    std::vector<double> taus;
    std::vector<Metric> metrics;
    for (int i = 0; i < profile_points; ++i) {
      const double tau = least - margin + (largest - least + 2 * margin) * i / (profile_points - 1);
      taus.push_back(tau);
      metrics.emplace_back([tau](const TaskScores& s) { return run_score_distribution(s, tau); });
    }
    const auto distributions = unit_bootstrap(scores, metrics, resamples, seed);
    FigureSeries series{series_name(table, r), styles[r], {}};
    for (std::size_t i = 0; i < distributions.size(); ++i) {
      const double wide = expanded_level(static_cast<int>(distributions[i].fewest), static_cast<int>(distributions[i].freedom), level);
      const Interval interval = bca_interval(distributions[i], wide);
      series.points.push_back({taus[i], distributions[i].estimate, interval.lo, interval.hi});
    }
    panel.series.push_back(std::move(series));
  }
  Figure figure{fmt::format("performance profile: share of runs above a score, {} task{} ({}{}), 95 % expanded BCa intervals of {} "
                            "resamples of seeds, each with its runs in all tasks{}",
                            tasks.size(), tasks.size() == 1 ? "" : "s", tasks.size() == 1 ? "" : "columns and blocks, ",
                            fmt::format("{:.0f} runs", runs), resamples, source_text(table)),
                {}};
  figure.panels.push_back(std::move(panel));
  return figure;
}

// Figures of values that come from no table: histograms with marks, and fields of many cells.

Figure values_histogram(std::span<const double> values, double from, double to, int bins, std::vector<FigureMark> marks,
                        const std::string& x_label, const std::string& y_label) {
  std::vector<double> counts(static_cast<std::size_t>(bins), 0.0);
  for (const double value : values) {
    const double place = (value - from) / (to - from) * bins;
    if (place >= 0 && value <= to) counts[static_cast<std::size_t>(std::min(place + 1e-9, bins - 1.0))] += 1;  // edges go to the right bin
  }
  FigurePanel panel;
  panel.kind = PanelKind::steps;
  panel.filled = true;
  panel.x_label = x_label;
  panel.y_label = y_label;
  panel.marks = std::move(marks);
  FigureSeries series{"values", {6, 0, 0}, {{from, 0, undefined, undefined}}};
  for (int b = 0; b < bins; ++b) series.points.push_back({from + (to - from) * b / bins, counts[static_cast<std::size_t>(b)], undefined, undefined});
  series.points.push_back({to, 0, undefined, undefined});
  panel.series.push_back(std::move(series));
  return {"", {std::move(panel)}};
}

Figure fields_figure(std::span<const ValueField> fields, std::size_t columns, const std::string& x_label, const std::string& y_label) {
  Figure figure;
  for (const ValueField& field : fields) {
    FigurePanel panel;
    panel.kind = PanelKind::field;
    panel.title = field.title;
    panel.x_label = x_label;
    panel.y_label = y_label;
    panel.diverging = field.diverging;
    panel.colour_from = field.from;
    panel.colour_to = field.to;
    for (std::size_t r = 0; (r + 1) * columns <= field.value.size(); ++r) {
      FigureSeries series{std::to_string(r + 1), {}, {}};
      for (std::size_t c = 0; c < columns; ++c)
        series.points.push_back({static_cast<double>(c + 1), field.value[r * columns + c], undefined, undefined});
      panel.series.push_back(std::move(series));
    }
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

}  // namespace odrpo
