// Writes the tables of a page, one HTML table per block. Each cell has the number by which the page's script sorts.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "kernels/math.hpp"
#include "kernels/shared/utf8.hpp"
#include "results/page/html_page.hpp"
#include "results/page/html_text.hpp"
#include "results/scores/csv.hpp"
#include "results/table/render/cell_texts.hpp"
#include "results/table/table.hpp"

namespace odrpo::page {
namespace {

constexpr std::size_t longest_name = 300;     ///< characters of a name that are shown, at most
constexpr std::size_t wide_table = 10;        ///< columns, with comparisons; a table with more prints in landscape
constexpr std::size_t stacked_table = 4;      ///< columns, with comparisons; of a table with more, a narrow screen has the cells of a row below each other
constexpr std::size_t short_name = 32;        ///< characters; a longer name may break into several lines
constexpr std::size_t legend_bytes = 20'000;  ///< most bytes of the sentences below one table

std::string name_html(std::string_view name) { return markup_text(cut_text(name, longest_name)); }

/// Returns the numbers by which the page's script sorts: that of a cell, then those of its comparison, in the order of their texts.
std::vector<double> numbers_of(const TableCell& cell, const TableModel& table, std::size_t parts) {
  std::vector<double> numbers(parts, undefined);
  if (cell.n > 0) numbers[0] = cell.centre;
  if (parts < 2) return numbers;
  const MeanInterval& d = cell.comparison.difference;
  if (table.spec.power_difference > 0) {
    if (d.n < 2 || parts < 4) return numbers;
    const SeedsNeeded needed = seeds_needed(cell.comparison, table, cell.of);
    numbers[1] = d.sd;
    numbers[2] = needed.alone > 0 ? needed.alone : std::numeric_limits<double>::infinity();
    numbers[3] = needed.among_all > 0 ? needed.among_all : std::numeric_limits<double>::infinity();
  } else if (table.spec.is_baseline(cell.row)) {
    numbers[1] = cell.n > 0 ? 0 : undefined;
  } else if (d.n > 0) {
    numbers[1] = d.mean;
  }
  return numbers;
}

/// A cell's text, e.g. "74.1 ± 0.8", as HTML: the first word (bold if `bold`), then the rest, then the star in its own element.
std::string cell_html(const std::string& text, bool bold, bool starred) {
  const std::size_t end = std::min(text.find(' '), text.size());
  std::string first = markup_text(text.substr(0, end)), rest = text.substr(end);
  if (bold) first = "<b>" + first + "</b>";
  std::string star;
  if (starred) {
    const std::size_t at = rest.find(" *");
    if (at != std::string::npos) rest.erase(at, 2);
    star = at != std::string::npos ? "<em>*</em>" : "<em></em>";
  }
  return first + (rest.empty() ? "" : fmt::format(" <span>{}</span>", markup_text(rest.substr(1)))) + star;
}

std::string statistic_of(const TableModel& table, std::size_t column) {
  if (table.spec.rows == values_dimension) return "value";
  const TableValue& value = table.values[table.spec.columns == values_dimension ? column : 0];
  return value.median ? "median" : value.share ? "share" : "mean";
}

/// The header of a table. Without comparisons one line; with comparisons two, where the first spans a cell and its comparison.
std::string head_html(const TableModel& table, const Grid& grid, std::size_t columns) {
  const bool two = table.spec.compares();
  std::string first =
      fmt::format("<tr><th scope=\"col\" data-column=\"0\"{}>{}</th>", two ? " rowspan=\"2\"" : "", name_html(table.spec.rows));
  std::string second;
  std::size_t at = 1;
  for (std::size_t c = 0; c < columns; ++c) {
    const auto& parts = grid.heading[c];
    if (two) first += fmt::format("<th scope=\"colgroup\" class=\"span\" colspan=\"{}\">{}</th>", parts.size(), name_html(parts[0]));
    for (std::size_t part = 0; part < parts.size(); ++part, ++at)
      (two ? second : first) += fmt::format("<th scope=\"col\" data-column=\"{}\">{}</th>", at,
                                            two && part == 0 ? statistic_of(table, c) : name_html(parts[part]));
  }
  return "<thead>\n" + first + "</tr>\n" + (two ? "<tr>" + second + "</tr>\n" : "") + "</thead>\n";
}

std::string row_html(const TableModel& table, const TableBlock& block, const Grid& grid, std::size_t row, std::size_t columns, bool stacked) {
  const std::string name = row_text(table, row);
  const auto number = number_of(name);
  std::string out = row > 0 && begins_group(table, row) ? "<tr class=\"group\">" : "<tr>";
  out += fmt::format("<th scope=\"row\"{}{}>{}</th>", columns_of(name) > short_name ? " class=\"long\"" : "",
                     number ? fmt::format(" data-value=\"{}\"", exact_text(*number)) : "", name_html(name));
  for (std::size_t c = 0; c < columns; ++c) {
    const TableCell& cell = block.cells[row * table.columns.size() + c];
    const auto& texts = grid.body[row][c];
    const std::vector<double> numbers = numbers_of(cell, table, texts.size());
    const bool stars = table.spec.compares() && !(table.spec.power_difference > 0);
    for (std::size_t part = 0; part < texts.size(); ++part)
      out += fmt::format("<td data-value=\"{}\"{}>{}</td>", exact_text(numbers[part]),
                         stacked ? fmt::format(" data-label=\"{}\"", name_html(grid.heading[c][part])) : "",
                         cell_html(texts[part], part == 0 && cell.among_best, part == 1 && stars));
  }
  return out + "</tr>\n";
}

/// Appends one block of a table until `out` has `limit` bytes. Returns how many of its rows fit.
std::size_t append_block(std::string& out, const TableModel& table, const TableBlock& block, const NumberStyle& style, std::size_t limit) {
  const Grid grid = grid_of(table, block, style);
  const std::size_t columns = std::min(grid.heading.size(), page_columns);
  std::string caption = table.values.size() == 1 ? value_text(table.values[0]) : "";
  if (table.blocks.size() > 1) add_item(caption, cut_text(block_text(table, block, false), 4 * longest_name), "; ");
  const std::size_t cells = columns > 0 ? columns * grid.heading[0].size() : 0;
  std::string text =
      fmt::format("<div class=\"scroll{}{}\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n<table>\n{}{}<tbody>\n",
                  cells > stacked_table ? " stacked" : "", cells > wide_table ? " wide" : "", caption.empty() ? "table" : markup_text(caption),
                  caption.empty() ? "" : fmt::format("<caption>{}</caption>\n", markup_text(caption)), head_html(table, grid, columns));
  std::size_t rows = 0;
  for (; rows < table.rows.size() && out.size() + text.size() < limit; ++rows) text += row_html(table, block, grid, rows, columns, cells > stacked_table);
  if (rows == 0) return 0;
  out += text + "</tbody>\n</table>\n</div>\n";
  if (columns < grid.heading.size())
    out += fmt::format("<p class=\"cut\">{} of {} columns are not shown: a table of this page has at most {}.</p>\n",
                       grid.heading.size() - columns, grid.heading.size(), page_columns);
  return rows;
}

}  // namespace

void append_tables(std::string& out, const TableModel& table, std::size_t limit) {
  const NumberStyle style = number_style(table);
  std::size_t shown = 0;
  for (const TableBlock& block : table.blocks)
    if (out.size() < limit) shown += append_block(out, table, block, style, limit);
  const std::size_t all = table.rows.size() * table.blocks.size();
  if (shown < all)
    out += fmt::format(
        "<p class=\"cut\">{} of {} rows, in {} tables, are not shown: a page has at most {} kB of tables. "
        "<code>odrpo-bench table</code> prints all.</p>\n",
        all - shown, all, table.blocks.size(), page_table_bytes / 1000);
  if (out.size() >= limit) return;
  std::vector<std::string> legend;
  for (const std::string& sentence : table_sentences(table, Legend::full))
    legend.push_back(markup_text(cut_text(sentence, 10 * longest_name)));
  if (const std::string best = best_sentence(table); !best.empty()) legend.push_back(markup_text(best));
  append_list(out, legend, legend_bytes);
}

}  // namespace odrpo::page
