// Renders the model of a table as aligned text.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/shared/utf8.hpp"
#include "results/table/render/cell_texts.hpp"

namespace odrpo {
namespace {

/// A paragraph broken at spaces, further lines indented.
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

std::string trimmed_end(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

/// As many columns side by side as fit, the rest below with the row names repeated.
std::string block_lines(const TableModel& table, const TableBlock& block, const NumberStyle& style, std::size_t width) {
  const Grid grid = grid_of(table, block, style);
  std::size_t name = columns_of(table.spec.rows);
  for (std::size_t r = 0; r < table.rows.size(); ++r) name = std::max(name, columns_of(row_text(table, r)));
  std::vector<std::vector<std::size_t>> widths;
  for (std::size_t c = 0; c < grid.heading.size(); ++c) {
    widths.emplace_back();
    for (std::size_t part = 0; part < grid.heading[c].size(); ++part) {
      std::size_t most = columns_of(grid.heading[c][part]);
      for (const auto& row : grid.body) most = std::max(most, columns_of(row[c][part]));
      widths.back().push_back(most);
    }
  }
  std::string out;
  for (std::size_t from = 0; from < grid.heading.size();) {
    std::size_t to = from, total = name;
    while (to < grid.heading.size()) {
      std::size_t more = 0;
      for (std::size_t w : widths[to]) more += w + 2;
      if (to > from && total + more > width) break;
      total += more;
      ++to;
    }
    const auto line = [&](const std::string& first, const std::vector<std::vector<std::string>>& texts) {
      std::string text = padded(first, name);
      for (std::size_t c = from; c < to; ++c)
        for (std::size_t part = 0; part < texts[c].size(); ++part) text += fmt::format("  {}", padded(texts[c][part], widths[c][part]));
      return trimmed_end(text);
    };
    if (from > 0) out += "\n";
    out += line(table.spec.rows, grid.heading);
    for (std::size_t r = 0; r < grid.body.size(); ++r) out += line(row_text(table, r), grid.body[r]);
    from = to;
  }
  return out;
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
  const auto list = [&](const char* title, const std::vector<std::pair<std::string, std::string>>& lines) {
    if (!lines.empty()) out += title;
    for (const auto& [name, line] : lines) out += wrapped(fmt::format("  {}: {}", name, line), "    ", width);
  };
  list("raters:\n", table.raters);
  list("formulas:\n", table.formulas);
  return out;
}

}  // namespace odrpo
