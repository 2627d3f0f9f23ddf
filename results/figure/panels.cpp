// What the builders of figures share: captions, checks, looks.
#include "results/figure/panels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/shared/failure.hpp"
#include "results/scores/csv.hpp"
#include "results/table/render/cell_texts.hpp"

namespace odrpo {

std::string source_text(const TableModel& table) {
  return fmt::format(" (suite {}{})", table.suite, table.digest.empty() ? "" : ", digest " + table.digest);
}

std::string series_name(const TableModel& table, std::size_t row) {
  const std::string name = row_text(table, row);
  return number_of(name) ? table.spec.rows + "=" + name : name;
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
      text += fmt::format("{}{}: {} over {} seed{}", text.empty() ? "" : "; ", value_text(value), what != nullptr ? what : shown,
                          low == high ? std::to_string(low) : fmt::format("{} to {}", low, high), high == 1 ? "" : "s");
    }
  return tables.empty() ? text : text + source_text(tables[0]);
}

void check_panels(const Figure& figure) {
  if (figure.panels.empty()) throw Failure(Exit::usage, "there is nothing to draw: no cell of the table has a number");
  if (figure.panels.size() > most_panels)
    throw Failure(Exit::limits, fmt::format("{} panels are more than {}; --rows, --columns, --best and --where make them fewer",
                                            figure.panels.size(), most_panels));
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
