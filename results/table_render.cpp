// Renders the model of a table: aligned text, Markdown, tidy CSV.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "results/table_words.hpp"

namespace odrpo {
namespace {

constexpr std::size_t width_limit = 100;

/// Columns on a terminal: bytes that do not continue a UTF-8 character.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t to) { return text + std::string(to - std::min(to, width(text)), ' '); }

/// A paragraph broken at spaces, further lines indented.
std::string wrapped(const std::string& text, const std::string& indent) {
  std::string out, line;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find(' ', from), text.size());
    const std::string word = text.substr(from, end - from);
    if (!line.empty() && width(line) + 1 + width(word) > width_limit) {
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

/// The body of one block as texts: heading of each column, then rows; columns of one value (cell and difference) belong together.
struct Grid {
  std::vector<std::vector<std::string>> heading;            ///< per column: one or two headings
  std::vector<std::vector<std::vector<std::string>>> body;  ///< per row, per column: one or two texts
};

Grid grid_of(const TableModel& table, const TableBlock& block) {
  const int seeds = table_seeds(table);
  const bool compared = !table.spec.baseline.empty();
  Grid grid;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    grid.heading.push_back({column_text(table, c)});
    if (compared) grid.heading.back().push_back(comparison_text(table, c));
  }
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    grid.body.emplace_back();
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const TableCell& cell = block.cells[r * table.columns.size() + c];
      grid.body.back().push_back({cell_text(cell, table, cell_decimals(table, cell.of), seeds)});
      if (compared) grid.body.back().back().push_back(difference_text(cell, table, difference_decimals(table, cell.of)));
    }
  }
  return grid;
}

/// As many columns side by side as fit, the rest below with the row names repeated.
std::string block_lines(const TableModel& table, const TableBlock& block) {
  const Grid grid = grid_of(table, block);
  std::size_t name = width(table.spec.rows);
  for (std::size_t r = 0; r < table.rows.size(); ++r) name = std::max(name, width(row_text(table, r)));
  std::vector<std::vector<std::size_t>> widths;
  for (std::size_t c = 0; c < grid.heading.size(); ++c) {
    widths.emplace_back();
    for (std::size_t part = 0; part < grid.heading[c].size(); ++part) {
      std::size_t most = width(grid.heading[c][part]);
      for (const auto& row : grid.body) most = std::max(most, width(row[c][part]));
      widths.back().push_back(most);
    }
  }
  std::string out;
  for (std::size_t from = 0; from < grid.heading.size();) {
    std::size_t to = from, total = name;
    while (to < grid.heading.size()) {
      std::size_t more = 0;
      for (std::size_t w : widths[to]) more += w + 2;
      if (to > from && total + more > width_limit) break;
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

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

/// Shortest text that reads back as the same number; empty when undefined.
std::string exact(double value) { return std::isnan(value) ? "" : fmt::format("{}", value); }

std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (std::string_view("|*_<`").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string table_text(const TableModel& table) {
  std::string out = fmt::format("suite {}\n", table.suite);
  for (const std::string& sentence : table_sentences(table)) out += wrapped(sentence, "  ");
  const auto list = [&](const char* title, const std::vector<std::pair<std::string, std::string>>& lines) {
    if (!lines.empty()) out += title;
    for (const auto& [name, line] : lines) out += wrapped(fmt::format("  {}: {}", name, line), "    ");
  };
  list("raters:\n", table.raters);
  list("formulas:\n", table.formulas);
  for (const TableBlock& block : table.blocks) {
    out += "\n";
    if (table.blocks.size() > 1) out += fmt::format("{}\n", block_text(table, block, false));
    out += block_lines(table, block);
  }
  return out;
}

std::string table_markdown(const TableModel& table) {
  std::string out = fmt::format("**suite {}**\n\n", escaped(table.suite));
  for (const std::string& sentence : table_sentences(table)) out += fmt::format("- {}\n", escaped(sentence));
  for (const auto& [name, rater] : table.raters) out += fmt::format("- rater `{}`: {}\n", name, escaped(rater));
  for (const auto& [name, formula] : table.formulas) out += fmt::format("- formula of `{}`: {}\n", name, escaped(formula));
  for (const TableBlock& block : table.blocks) {
    out += "\n";
    if (table.blocks.size() > 1) out += fmt::format("{}\n\n", escaped(block_text(table, block, false)));
    out += fmt::format("| {} |", escaped(table.spec.rows));
    const Grid grid = grid_of(table, block);
    std::string rule = "|---|";
    for (const auto& column : grid.heading)
      for (const std::string& text : column) {
        out += fmt::format(" {} |", escaped(text));
        rule += "---|";
      }
    out += fmt::format("\n{}\n", rule);
    for (std::size_t r = 0; r < grid.body.size(); ++r) {
      out += fmt::format("| {} |", escaped(row_text(table, r)));
      for (const auto& column : grid.body[r])
        for (const std::string& text : column) out += fmt::format(" {} |", escaped(text));
      out += "\n";
    }
  }
  return out;
}

std::string table_csv(const TableModel& table) {
  const TableSpec& spec = table.spec;
  const auto fields = [](std::vector<std::string> texts) {
    for (std::string& text : texts) text = quoted(text);
    return fmt::format("{}", fmt::join(texts, ","));
  };
  // the dimension `value` has its column already
  const bool rows = spec.rows != values_dimension, columns = spec.columns != values_dimension;
  std::vector<std::string> head;
  if (!table.blocks.empty())
    for (const auto& fixed : table.blocks[0].fixed) head.push_back(fixed.first);
  if (rows) head.push_back(spec.rows);
  if (columns) head.push_back(spec.columns);
  head.insert(head.end(), spec.best.begin(), spec.best.end());
  std::string out = fields(head) +
                    ",value,unit,statistic,n,failed,undefined,centre,sd,lo,hi,baseline,pairs,difference,difference_sd,difference_lo,"
                    "difference_hi,difference_unit,pairs_undefined";
  for (const std::string& axis : spec.best) out += "," + quoted(axis + "_at_edge");
  out += ",formula,rater_text\n";
  for (const TableBlock& block : table.blocks)
    for (const TableCell& cell : block.cells) {
      const TableValue& value = table.values[cell.of];
      std::vector<std::string> at;
      for (const auto& fixed : block.fixed) at.push_back(fixed.second);
      if (rows) at.push_back(cell.row);
      if (columns) at.push_back(cell.column);
      for (std::size_t i = 0; i < spec.best.size(); ++i) at.push_back(i < cell.chosen.size() ? cell.chosen[i].second : "");
      const MeanInterval& d = cell.difference;
      out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", fields(at), quoted(value.name), value.unit,
                         value.median  ? "median and quartiles"
                         : value.share ? "share and 95% Wilson interval"
                                       : "mean and 95% t interval",
                         cell.n, cell.failed, cell.undefined, exact(cell.centre), exact(cell.sd), exact(cell.lo), exact(cell.hi),
                         quoted(spec.baseline), d.n, exact(d.mean), exact(d.sd), exact(d.lo), exact(d.hi),
                         spec.baseline.empty() ? ""
                         : value.percent       ? "% of the baseline"
                                               : value.unit,
                         cell.no_percent);
      for (std::size_t i = 0; i < spec.best.size(); ++i) out += i < cell.at_edge.size() ? cell.at_edge[i] ? ",true" : ",false" : ",";
      out += fmt::format(",{},{}\n", quoted(cell_formula(table, block, cell)), quoted(cell_rater(table, block, cell)));
    }
  return out;
}

}  // namespace odrpo
