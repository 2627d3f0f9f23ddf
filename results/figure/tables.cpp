// Builds figures of the cells of tables: lines, bars, forest, heat map. Has the captions, checks and styles that all figures share.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "kernels/system/fail.hpp"
#include "results/figure/parts.hpp"
#include "results/scores/csv.hpp"
#include "results/table/render/cell_texts.hpp"

namespace odrpo {
namespace {

/// The column names as numbers. Failure `usage` if one is not a number.
std::vector<double> column_numbers(const TableModel& table) {
  std::vector<double> numbers;
  for (const std::string& column : table.columns) {
    const auto number = number_of(column);
    if (!number)
      fail(Exit::usage,
           "columns: \"{}\" of the axis \"{}\" is no number, and lines need numbers; --columns names another "
           "axis, and bars take any",
           column, table.spec.columns);
    numbers.push_back(*number);
  }
  return numbers;
}

bool spans_octaves(const std::vector<double>& numbers) {
  const auto [least, largest] = std::minmax_element(numbers.begin(), numbers.end());
  return numbers.size() > 1 && numbers.size() <= 8 && *least > 0 && *largest >= 8 * *least;
}

/// The point of a cell: its centre, or the difference from its baseline, which is 0 for the baseline itself. Nothing where it has none.
std::optional<FigurePoint> point_of(const TableModel& table, const TableCell& cell, double x, bool differences) {
  const MeanInterval& d = cell.comparison.difference;
  if (cell.n == 0) return std::nullopt;
  if (!differences) return FigurePoint{x, cell.centre, cell.lo, cell.hi};
  if (table.spec.is_baseline(cell.row)) return FigurePoint{x, 0, 0, 0};
  return d.n > 0 ? std::optional(FigurePoint{x, d.mean, d.lo, d.hi}) : std::nullopt;
}

std::vector<FigureSeries> row_series(const TableModel& table, const TableBlock& block, std::span<const SeriesStyle> styles,
                                     const std::vector<double>& x, bool differences = false) {
  std::vector<FigureSeries> all;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    FigureSeries series{series_name(table, r), styles[r], {}};
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      if (const auto point = point_of(table, block.cells[r * table.columns.size() + c], x[c], differences)) series.points.push_back(*point);
    std::sort(series.points.begin(), series.points.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
    if (!series.points.empty()) all.push_back(std::move(series));
  }
  return all;
}

/// "grpo, rater=mixed"; the row alone where the table has one block.
std::string join_title(std::string row, const std::string& block) { return block.empty() ? row : row + ", " + block; }

/// What an axis of differences shows: "gain vs grpo [%]", "quality - grpo [levels]".
std::string difference_label(const TableModel& table, const TableValue& value) {
  const std::string quantity = quantity_text({value.name, "", ""});
  if (value.percent) return fmt::format("{} vs {} [%]", quantity, baseline_text(table));
  return fmt::format("{} - {}{}", quantity, baseline_text(table), value.unit.empty() ? "" : " [" + value.unit + "]");
}

std::vector<double> places(std::size_t count) {
  std::vector<double> x(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<double>(i);
  return x;
}

}  // namespace

Figure lines_figure(std::span<const TableModel> tables, std::span<const SeriesStyle> styles, bool bands, bool differences) {
  if (differences && !tables[0].spec.compares()) fail(Exit::usage, "there is no baseline to differ from; --baseline names one");
  Figure figure{tables_caption(tables, differences ? "mean difference from the baseline" : nullptr), {}, tables.size()};
  if (differences)
    figure.caption += fmt::format("; paired by seed, with {} intervals", bands ? "95 % t" : tables[0].spec.chose_apart() ? "their" : "95 %");
  std::size_t blocks = 0;
  for (const TableModel& table : tables) blocks = std::max(blocks, table.blocks.size());
  for (std::size_t b = 0; b < blocks; ++b)  // panels of all tables for one block, side by side
    for (const TableModel& table : tables) {
      if (b >= table.blocks.size()) continue;
      const std::vector<double> x = column_numbers(table);
      FigurePanel panel;
      panel.title = block_text(table, table.blocks[b], false);
      panel.x_label = table.spec.columns;
      panel.y_label = differences ? difference_label(table, table.values[0]) : quantity_text(table.values[0]);
      panel.bands = bands;
      panel.log_x = !bands && spans_octaves(x);
      if (!bands && x.size() <= 8) panel.x_ticks = x;
      panel.series = row_series(table, table.blocks[b], styles, x, differences);
      if (!panel.series.empty()) figure.panels.push_back(std::move(panel));
    }
  check_panels(figure);
  return figure;
}

Figure levels_figure(std::span<const LevelTables> kinds) {
  const TableModel& first = kinds[0].level[0];
  TableModel named = first;
  named.values[0].name = "shares of the levels k", named.values[0].unit.clear();
  Figure figure{tables_caption({&named, 1}), {}, first.rows.size()};
  const std::vector<SeriesStyle> styles = distinct_styles(std::vector<SeriesStyle>(kinds[0].level.size()));
  for (const LevelTables& kind : kinds)
    for (std::size_t b = 0; b < first.blocks.size(); ++b)
      for (std::size_t r = 0; r < first.rows.size(); ++r) {
        FigurePanel panel;
        panel.title = join_title(series_name(first, r), block_text(first, first.blocks[b], false));
        panel.x_label = "step";
        panel.y_label = kind.name;
        panel.bands = true;
        for (std::size_t k = 0; k < kind.level.size(); ++k) {
          const TableModel& table = kind.level[k];
          const std::vector<double> x = column_numbers(table);
          FigureSeries series{fmt::format("k={}", k + 2), styles[k], {}};
          for (std::size_t c = 0; c < x.size(); ++c)
            if (const auto point = point_of(table, table.blocks[b].cells[r * x.size() + c], x[c], false)) series.points.push_back(*point);
          if (!series.points.empty()) panel.series.push_back(std::move(series));
        }
        if (!panel.series.empty()) figure.panels.push_back(std::move(panel));
      }
  check_panels(figure);
  return figure;
}

Figure bars_figure(const TableModel& table, std::span<const SeriesStyle> styles) {
  Figure figure{tables_caption({&table, 1}), {}};
  const bool values = table.spec.columns == values_dimension;  // each value has its own unit, and so its own panel
  for (const TableBlock& block : table.blocks)
    for (std::size_t v = 0; v < (values ? table.values.size() : 1); ++v) {
      FigurePanel panel;
      panel.kind = PanelKind::bars;
      panel.title = block_text(table, block, false);
      panel.x_label = values ? "" : table.spec.columns;
      panel.y_label = table.spec.rows == values_dimension ? "" : quantity_text(table.values[v]);
      panel.x_names = values ? std::vector<std::string>{""} : table.columns;
      panel.series = row_series(table, block, styles, places(table.columns.size()));
      if (values)
        for (FigureSeries& series : panel.series) {
          std::erase_if(series.points, [&](const FigurePoint& point) { return point.x != static_cast<double>(v); });
          for (FigurePoint& point : series.points) point.x = 0;
        }
      std::erase_if(panel.series, [](const FigureSeries& series) { return series.points.empty(); });
      if (!panel.series.empty()) figure.panels.push_back(std::move(panel));
    }
  check_panels(figure);
  return figure;
}

void check_bars(const Figure& figure) {
  NumberRange all{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  bool one_quantity = true;
  for (FigurePanel panel : figure.panels) {
    panel.kind = PanelKind::lines;  // the range of the values without 0
    const NumberRange range = range_of_y(panel);
    if (range.to - range.from >= 0.25 * std::max(range.to, -range.from)) return;
    all = {std::min(all.from, range.from), std::max(all.to, range.to)};
    one_quantity &= panel.y_label == figure.panels[0].y_label;
  }
  fail(Exit::usage,
       "bars begin at 0, and {} would look alike: `plot forest` shows differences from a baseline, `plot votes` values over numbers, `plot heatmap` "
       "values as numbers",
       one_quantity ? fmt::format("all bars of {:.4g} to {:.4g}", all.from, all.to) : "all bars of a panel");
}

Figure forest_figure(const TableModel& table, std::span<const SeriesStyle> styles) {
  if (!table.spec.compares()) fail(Exit::usage, "a forest shows differences, and there is no baseline; --baseline names one");
  Figure figure{tables_caption({&table, 1}, "mean difference from the baseline"), {}};
  const bool values = table.spec.columns == values_dimension;
  for (const TableBlock& block : table.blocks)
    for (std::size_t v = 0; v < table.values.size(); ++v) {  // each value has its own unit, and so its own panel
      FigurePanel panel;
      panel.kind = PanelKind::forest;
      panel.title = block_text(table, block, false);
      const TableValue& value = table.values[v];
      panel.x_label = difference_label(table, value);
      const auto is_compared = [&](std::size_t r, std::size_t c) {
        const TableCell& cell = block.cells[r * table.columns.size() + c];
        return cell.of == v && cell.comparison.difference.n > 0;
      };
      std::vector<std::size_t> compared;  // rows
      for (std::size_t r = 0; r < table.rows.size(); ++r)
        for (std::size_t c = 0; c < table.columns.size(); ++c)
          if (is_compared(r, c) && (compared.empty() || compared.back() != r)) compared.push_back(r);
      const bool by_column = !values && table.columns.size() > 1, one_row = by_column && compared.size() == 1;
      if (one_row) add_item(panel.title, series_name(table, compared[0]));
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const std::string column = entry_text(table, table.spec.columns, table.columns[c]);
        bool headed = !by_column || one_row;
        for (const std::size_t r : compared) {
          if (!is_compared(r, c)) continue;
          if (!headed) panel.y_names.push_back(column);  // a heading
          headed = true;
          const TableCell& cell = block.cells[r * table.columns.size() + c];
          const MeanInterval& d = cell.comparison.difference;
          const auto line = static_cast<double>(panel.y_names.size());
          panel.y_names.push_back(one_row ? column : series_name(table, r));
          panel.series.push_back({table.rows[r], styles[r], {{d.mean, line, d.lo, d.hi, is_significant(cell.comparison, table.spec)}}});
        }
      }
      if (!panel.series.empty()) figure.panels.push_back(std::move(panel));
    }
  const int tests = *std::max_element(table.tested.begin(), table.tested.end());
  if (!table.spec.best.empty() && tests == 0) {
    figure.caption += "; paired by seed; chosen on these seeds, and so not tested";
  } else {
    figure.caption += fmt::format("; paired by seed, with {} intervals; filled symbols: p < .05", table.spec.chose_apart() ? "their" : "95 %");
    if (table.spec.correction == Correction::holm) figure.caption += fmt::format(" after Holm's correction for the {} of a value", tests);
    if (table.spec.chose_apart()) figure.caption += fmt::format(" against every {} of the other", fmt::join(table.spec.best, ", "));
  }
  check_panels(figure);
  return figure;
}

Figure heatmap_figure(const TableModel& table) {
  Figure figure{tables_caption({&table, 1}, table.values[0].median ? "median" : "mean"), {}};
  if (table.spec.over_values() && table.values.size() > 1)
    fail(Exit::usage, "a heat map has one scale of colours, and so one value; --value names it");
  const NumberStyle style = number_style(table);
  for (const TableBlock& block : table.blocks) {
    FigurePanel panel;
    panel.kind = PanelKind::heatmap;
    panel.title = block_text(table, block, false);
    panel.x_label = table.spec.columns;
    panel.y_label = quantity_text(table.values[0]);
    panel.x_names = table.columns;
    panel.decimals = style.decimals[0];
    const std::vector<SeriesStyle> any(table.rows.size());
    panel.series = row_series(table, block, any, places(table.columns.size()));
    for (const FigureSeries& series : panel.series) panel.y_names.push_back(series.name);
    if (!panel.series.empty()) figure.panels.push_back(std::move(panel));
  }
  check_panels(figure);
  return figure;
}

// Captions, checks and styles that all figures share.

std::string source_text(const TableModel& table) {
  return fmt::format(" (suite {}{})", table.suite, table.digest.empty() ? "" : ", digest " + table.digest);
}

std::string quantity_text(const TableValue& value) {
  TableValue named = value;
  if (value.name == "seconds") named.name = "step time";
  else if (value.name.ends_with("-seconds")) named.name = value.name.substr(0, value.name.size() - 8) + " step time";  // modelled, judge
  return value_text(named);
}

std::string series_name(const TableModel& table, std::size_t row) {
  return table.spec.rows == values_dimension ? row_text(table, row) : entry_text(table, table.spec.rows, table.rows[row]);
}

std::string tables_caption(std::span<const TableModel> tables, const char* what) {
  std::string text;
  for (const TableModel& table : tables)
    for (std::size_t v = 0; v < table.values.size(); ++v) {
      int low = 0, high = 0;
      each_cell(table, [&](const TableCell& cell) {
        if (cell.of != v) return;
        low = low == 0 ? cell.n : std::min(low, cell.n);
        high = std::max(high, cell.n);
      });
      const TableValue& value = table.values[v];
      const char* shown = value.median  ? "median and quartiles"
                          : value.share ? "share and 95 % Wilson interval"
                          : high < 2    ? "value"
                                        : "mean and 95 % t interval";
      add_item(text, fmt::format("{}: {} over {} seed{}", quantity_text(value), what != nullptr ? what : shown,
                                 low == high ? std::to_string(low) : fmt::format("{} to {}", low, high), high == 1 ? "" : "s"), "; ");
    }
  return tables.empty() ? text : text + source_text(tables[0]);
}

void check_panels(const Figure& figure) {
  if (figure.panels.empty()) fail(Exit::usage, "there is nothing to draw: no cell of the table has a number");
  if (figure.panels.size() > most_panels)
    fail(Exit::limits, "{} panels are more than {}; --rows, --columns, --best and --where make them fewer", figure.panels.size(),
         most_panels);
}

std::vector<SeriesStyle> distinct_styles(std::vector<SeriesStyle> wanted) {
  std::vector<SeriesStyle> given;
  const auto is_taken = [&](const SeriesStyle& style) {
    return std::any_of(given.begin(), given.end(), [&](const SeriesStyle& g) { return g.colour == style.colour && g.dash == style.dash; });
  };
  for (SeriesStyle style : wanted) {
    for (int tries = 0; tries < series_colours * series_dashes && is_taken(style); ++tries) {
      style.colour = (style.colour + 1) % series_colours;
      style.symbol = style.colour % series_symbols;
      if ((tries + 1) % series_colours == 0) style.dash = (style.dash + 1) % series_dashes;
    }
    given.push_back(style);
  }
  return given;
}

}  // namespace odrpo
