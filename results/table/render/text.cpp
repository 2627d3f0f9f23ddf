// Renders the model of a table as aligned plain text.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/shared/utf8.hpp"
#include "kernels/system/terminal.hpp"
#include "results/table/render/cell_texts.hpp"

namespace odrpo {
namespace {

/// Breaks a paragraph at spaces into lines of at most `width` characters; indents all lines but the first.
std::string wrapped(const std::string& text, const std::string& indent, std::size_t width) {
  std::string out, line;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find(' ', from), text.size());
    const std::string word = text.substr(from, end - from);
    if (!line.empty() && columns_of(line) + 1 + columns_of(word) > width) {
      out += line + "\n";
      line = indent + word;
    } else {
      if (from > 0) line += ' ';
      line += word;
    }
    from = end + 1;
  }
  return out + line + "\n";
}

/// The text of a comparison; in colour if it has a star.
std::string with_star_colour(const std::string& text, const TableModel& table, const TableCell& cell) {
  const TableValue& value = table.values[cell.of];
  if (cell.comparison.difference.n == 0 || table.spec.power_difference > 0 || !is_significant(cell.comparison, table.spec)) return text;
  const bool better = (cell.comparison.difference.mean > 0) == value.more_is_better;
  return painted(text, !value.ranked ? Paint::doubtful : better ? Paint::good : Paint::bad);
}

/// Returns the text of one block: as many columns side by side as fit, the rest below with the row names repeated.
std::string block_lines(const TableModel& table, const TableBlock& block, const NumberStyle& style, std::size_t width) {
  const Grid grid = grid_of(table, block, style);
  std::vector<TextColumn> columns = {{table.spec.rows, {}}};
  for (std::size_t r = 0; r < table.rows.size(); ++r) columns[0].rows.push_back(row_text(table, r));
  std::size_t parts = 0;  // texts per cell: its value, and its comparison
  for (std::size_t c = 0; c < grid.heading.size(); ++c) {
    parts = grid.heading[c].size();
    for (std::size_t part = 0; part < parts; ++part) {
      columns.push_back({grid.heading[c][part], {}});
      for (std::size_t r = 0; r < grid.body.size(); ++r) {
        const std::string& text = grid.body[r][c][part];
        columns.back().rows.push_back(part > 0 ? with_star_colour(text, table, block.cells[r * table.columns.size() + c]) : text);
      }
    }
  }
  return side_by_side(columns, width, parts);
}

}  // namespace

std::string table_text(const TableModel& table, Legend legend, std::size_t width) {
  std::string out = wrapped(table_title(table), "  ", width);
  const NumberStyle style = number_style(table);
  for (const TableBlock& block : table.blocks) {
    out += "\n";
    if (table.blocks.size() > 1) out += wrapped(block_text(table, block, false), "  ", width);
    out += block_lines(table, block, style, width);
  }
  const std::vector<std::string> sentences = table_sentences(table, legend);
  if (!sentences.empty()) out += "\n";
  for (const std::string& sentence : sentences) out += wrapped(sentence, "  ", width);
  if (legend != Legend::full) return out;
  const auto list = [&](const char* title, const Labels& lines) {
    if (!lines.empty()) out += title;
    for (const auto& [name, line] : lines) out += wrapped(fmt::format("  {}: {}", name, line), "    ", width);
  };
  list("labels:\n", table.spec.labels);
  list("raters:\n", table.raters);
  list("formulas:\n", table.formulas);
  return out;
}

}  // namespace odrpo
