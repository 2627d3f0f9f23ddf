// What a table says about its numbers, in words; and the text of one cell.
#include "results/table_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

#include "results/table_cells.hpp"

namespace odrpo {
namespace {

template <class Visit>
void each_cell(const TableModel& table, Visit visit) {
  for (const TableBlock& block : table.blocks)
    for (const TableCell& cell : block.cells)
      if (cell.n > 0) visit(cell);
}

/// Fixed decimals; enormous numbers in scientific form instead of a hundred digits.
std::string number(double value, int decimals) {
  if (std::fabs(value) >= 1e9) return fmt::format("{:.4g}", value);
  std::string text = fmt::format("{:.{}f}", value, decimals);
  return text.find_first_not_of("-0.") == std::string::npos && text[0] == '-' ? text.substr(1) : text;
}

/// Decimals at which the median of the half-widths that are positive keeps one digit.
std::optional<int> decimals_of(std::vector<double> halves) {
  std::erase_if(halves, [](double half) { return !(half > 0) || !std::isfinite(half); });
  if (halves.empty()) return std::nullopt;
  std::nth_element(halves.begin(), halves.begin() + static_cast<std::ptrdiff_t>(halves.size() / 2), halves.end());
  return std::clamp(static_cast<int>(std::ceil(-std::log10(halves[halves.size() / 2]))), 1, 9);
}

/// "grounding [%]".
std::string value_text(const TableValue& value) { return value.unit.empty() ? value.name : fmt::format("{} [{}]", value.name, value.unit); }

/// What a sentence is about, the sentence, and the values it holds for.
struct Alike {
  std::string about, sentence;
  std::vector<std::string> names;
};
void add_alike(std::vector<Alike>& groups, const std::string& about, const std::string& sentence, const std::string& name) {
  for (Alike& group : groups)
    if (group.about == about && group.sentence == sentence) return group.names.push_back(name);
  groups.push_back({about, sentence, {name}});
}
/// "cells: mean over ...", or "cells of seconds: median over ..." when not all values are alike.
void tell_alike(std::vector<std::string>& said, const std::vector<Alike>& groups) {
  for (const Alike& group : groups)
    said.push_back(
        fmt::format("{}{}: {}", group.about, groups.size() > 1 ? fmt::format(" of {}", fmt::join(group.names, ", ")) : "", group.sentence));
}

std::string cells_sentence(const TableModel& table, std::size_t value) {
  int low = 1 << 30, high = 0;
  each_cell(table, [&](const TableCell& cell) {
    if (cell.of != value) return;
    low = std::min(low, cell.n);
    high = std::max(high, cell.n);
  });
  const std::string n = high == 0 ? "0" : low == high ? std::to_string(low) : fmt::format("{} to {}", low, high);
  if (table.values[value].median) return fmt::format("median over n = {} seeds [first quartile, third quartile]", n);
  if (table.values[value].share) return fmt::format("share of n = {} runs [95 % Wilson interval]", n);
  return fmt::format("mean over n = {} seeds ± half-width of the 95 % Student-t interval of the mean", n);
}

/// "grpo", or "votes=1" of a number.
std::string baseline_text(const TableModel& table) {
  return number_of(table.spec.baseline) ? table.spec.rows + "=" + table.spec.baseline : table.spec.baseline;
}

std::string comparison_heading(const TableModel& table, std::size_t value) {
  return fmt::format("{} {}{}", table.values[value].percent ? "vs" : "-", baseline_text(table), table.values[value].percent ? " [%]" : "");
}

std::string comparison_sentence(const TableModel& table, std::size_t value) {
  const TableValue& of = table.values[value];
  const std::string baseline = baseline_text(table);
  return fmt::format("{}, paired by seed: {}", of.percent ? fmt::format("100 (this row / {} - 1)", baseline) : "this row minus " + baseline,
                     of.share ? "difference of shares [95 % interval, Newcombe's for pairs]"
                              : "mean ± half-width of its 95 % Student-t interval; * = the interval excludes 0");
}

/// Of the lines of a dimension ("estimator": the formulas) the one for a cell: called as the cell's entry, followed by axes at its values.
std::string line_for(const std::vector<std::pair<std::string, std::string>>& lines, const std::string& dimension, const TableModel& table,
                     const TableBlock& block, const TableCell& cell) {
  auto at = block.fixed;
  at.insert(at.end(), cell.chosen.begin(), cell.chosen.end());
  at.emplace_back(table.spec.rows, cell.row);
  at.emplace_back(table.spec.columns, cell.column);
  const auto entry = std::find_if(at.begin(), at.end(), [&](const auto& a) { return a.first == dimension; });
  if (entry == at.end()) return "";
  const auto named = [&](std::string_view called) {
    if (!called.starts_with(entry->second)) return false;
    called.remove_prefix(entry->second.size());
    for (bool found = true; found && !called.empty();) {
      found = false;
      for (const auto& [axis, value] : at)
        if (const std::string part = fmt::format(" {}={}", axis, value);
            called.starts_with(part) && (called.size() == part.size() || called[part.size()] == ' ')) {
          called.remove_prefix(part.size());
          found = true;
          break;
        }
    }
    return called.empty();
  };
  for (const auto& [called, line] : lines)
    if (named(called)) return line;
  return "";
}

/// Decimals of a value's cells, at which their typical half-width keeps one digit; whole numbers get none.
int cell_decimals(const TableModel& table, std::size_t value) {
  std::vector<double> halves;
  bool whole = true;
  each_cell(table, [&](const TableCell& cell) {
    if (cell.of != value) return;
    if (const double half = (cell.hi - cell.lo) / 2; half > 1e-12 * std::fabs(cell.centre)) halves.push_back(half);  // more than rounding
    for (const auto& v : cell.values) whole &= std::nearbyint(v.second) == v.second;
  });
  return decimals_of(halves).value_or(table.values[value].unit == "%" ? 1 : whole ? 0 : 3);
}

/// The same of its comparisons: those of the cells, or of percentages.
int difference_decimals(const TableModel& table, std::size_t value) {
  if (!table.values[value].percent) return cell_decimals(table, value);
  std::vector<double> halves;
  each_cell(table, [&](const TableCell& cell) {
    if (cell.of == value) halves.push_back((cell.difference.hi - cell.difference.lo) / 2);
  });
  return decimals_of(halves).value_or(1);
}

/// The number of seeds that most cells report.
int table_seeds(const TableModel& table) {
  std::map<int, int> counts;
  each_cell(table, [&](const TableCell& cell) { ++counts[cell.n]; });
  int seeds = 0, most = 0;
  for (const auto& [n, count] : counts)
    if (count >= most) {
      seeds = n;
      most = count;
    }
  return seeds;
}

/// "74.1 ± 0.8", "74.1 ± n/a" (one seed), "n/a" (none); with the axis value that was chosen (where the first value stands, by which it
/// was; "!" = at the edge of those tried) and an n that differs.
std::string cell_text(const TableCell& cell, const TableModel& table, int decimals, int seeds) {
  if (cell.n == 0) return cell.failed > 0 ? "failed" : "n/a";
  std::string text = number(cell.centre, decimals);
  const TableValue& value = table.values[cell.of];
  if (value.median || value.share) text += fmt::format(" [{}, {}]", number(cell.lo, decimals), number(cell.hi, decimals));
  else text += " ± " + (cell.n > 1 ? number((cell.hi - cell.lo) / 2, decimals) : "n/a");
  if (cell.of == 0)
    for (std::size_t i = 0; i < cell.chosen.size(); ++i) text += " @" + cell.chosen[i].second + (cell.at_edge[i] ? "!" : "");
  if (cell.n != seeds) text += fmt::format(" (n={})", cell.n);
  return text;
}

/// "+0.9 ± 0.3 *" (the interval excludes 0), "0.0 ± 0.3" (rounded to zero: no sign), "baseline", "n/a".
std::string difference_text(const TableCell& cell, const TableModel& table, int decimals) {
  const MeanInterval& d = cell.difference;
  if (cell.row == table.spec.baseline) return "baseline";
  if (d.n == 0) return "n/a";
  std::string text = number(d.mean, decimals);
  if (d.mean > 0 && text.find_first_not_of("0.") != std::string::npos) text = "+" + text;  // what rounds to zero has no sign
  const bool share = table.values[cell.of].share;
  if (share) text += fmt::format(" [{}, {}]", number(d.lo, decimals), number(d.hi, decimals));
  else text += " ± " + (d.n > 1 ? number((d.hi - d.lo) / 2, decimals) : "n/a");
  if (!share && (d.lo > 0 || d.hi < 0)) text += " *";
  if (d.n != cell.n) text += fmt::format(" (n={})", d.n);
  return text;
}

/// "votes=8", or "grounding [%]" of a value: a column's heading.
std::string column_text(const TableModel& table, std::size_t column) {
  return table.spec.columns == values_dimension ? value_text(table.values[column]) : table.spec.columns + "=" + table.columns[column];
}

/// "- grpo", or "vs grpo [%]": the heading of a column of comparisons.
std::string comparison_text(const TableModel& table, std::size_t column) {
  return comparison_heading(table, table.spec.columns == values_dimension ? column : 0);
}

}  // namespace

std::string cell_formula(const TableModel& table, const TableBlock& block, const TableCell& cell) {
  return line_for(table.formulas, "estimator", table, block, cell);
}

std::string cell_rater(const TableModel& table, const TableBlock& block, const TableCell& cell) {
  return line_for(table.raters, "rater", table, block, cell);
}

NumberStyle number_style(const TableModel& table) {
  NumberStyle style;
  for (std::size_t v = 0; v < table.values.size(); ++v) {
    style.decimals.push_back(cell_decimals(table, v));
    style.difference_decimals.push_back(difference_decimals(table, v));
  }
  style.seeds = table_seeds(table);
  return style;
}

Grid grid_of(const TableModel& table, const TableBlock& block, const NumberStyle& style) {
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
      grid.body.back().push_back({cell_text(cell, table, style.decimals[cell.of], style.seeds)});
      if (compared) grid.body.back().back().push_back(difference_text(cell, table, style.difference_decimals[cell.of]));
    }
  }
  return grid;
}

std::string row_text(const TableModel& table, std::size_t row) {
  return table.spec.rows == values_dimension ? value_text(table.values[row]) : table.rows[row];
}

std::string block_text(const TableModel& table, const TableBlock& block, bool constant) {
  std::string text;
  for (const auto& [name, value] : block.fixed)
    if ((std::find(table.split.begin(), table.split.end(), name) == table.split.end()) == constant)
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
  return text;
}

std::vector<std::string> table_sentences(const TableModel& table) {
  const TableSpec& spec = table.spec;
  std::vector<std::string> said;
  std::vector<Alike> cells, comparisons;
  for (std::size_t v = 0; v < table.values.size(); ++v) {
    const TableValue& value = table.values[v];
    said.push_back(value_text(value) + (value.meaning.empty() ? ": the file's column of this name" : ": " + value.meaning));
    add_alike(cells, "cells", cells_sentence(table, v), value.name);
    if (!spec.baseline.empty())
      add_alike(comparisons, fmt::format("column \"{}\"", comparison_heading(table, v)), comparison_sentence(table, v), value.name);
  }
  tell_alike(said, cells);
  tell_alike(said, comparisons);
  if (!spec.best.empty()) {
    const bool several = table.values.size() > 1;
    const std::string choice =
        fmt::format("@: the {} with the best mean{}", fmt::join(spec.best, ", "), several ? " of " + spec.value[0] : "");
    const std::string others = several ? ", where the other values are reported too" : "";
    said.push_back(spec.tune_seeds > 0 ? fmt::format("{} on seeds 0 to {}, chosen per cell{}; the other seeds are reported", choice,
                                                     spec.tune_seeds - 1, others)
                                       : fmt::format("{}, chosen per cell{}; chosen on the reported seeds, which flatters every cell{}",
                                                     choice, others, several ? " of " + spec.value[0] : ""));
  }
  bool at_edge = false;
  each_cell(table, [&](const TableCell& cell) { at_edge |= std::count(cell.at_edge.begin(), cell.at_edge.end(), true) > 0; });
  if (at_edge) said.push_back("!: the best is the largest or smallest tried; a wider grid may find better");
  if (!table.blocks.empty()) {
    std::string same = block_text(table, table.blocks[0], true);
    for (const auto& [key, set] : table.settings) same += fmt::format("{}{}={}", same.empty() ? "" : ", ", key, set);
    if (!same.empty()) said.push_back("everywhere: " + same);
  }
  for (const std::string& note : table.notes) said.push_back("note: " + note);
  return said;
}

}  // namespace odrpo
