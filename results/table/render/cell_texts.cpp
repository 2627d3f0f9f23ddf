// Writes the texts of a table's cells and headings.
#include "results/table/render/cell_texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

#include "kernels/system/text.hpp"
#include "results/table/cells.hpp"

namespace odrpo {
namespace {

/// A number with fixed decimals; in scientific form if it is so large that it would have hundreds of digits. "n/a" if not finite.
std::string number(double value, int decimals) {
  if (!std::isfinite(value)) return "n/a";  // an end of an interval that is unknown
  if (std::fabs(value) >= 1e9) return fmt::format("{:.4g}", value);
  return fixed_text(value, decimals);
}

/// Returns with how many decimals the median of the positive half-widths has one digit; nothing if none is positive.
std::optional<int> decimals_of(std::vector<double> halves) {
  std::erase_if(halves, [](double half) { return !(half > 0) || !std::isfinite(half); });
  if (halves.empty()) return std::nullopt;
  std::nth_element(halves.begin(), halves.begin() + static_cast<std::ptrdiff_t>(halves.size() / 2), halves.end());
  return std::clamp(static_cast<int>(std::ceil(-std::log10(halves[halves.size() / 2]))), 1, 9);
}

/// Finds, among the `lines` of formulas or of raters, that of a cell. Its name is the cell's value of `dimension`, perhaps followed by axes
/// with the cell's values.
std::string line_for(const std::vector<std::pair<std::string, std::string>>& lines, const std::string& dimension, const TableModel& table,
                     const TableBlock& block, const TableCell& cell) {
  auto at = block.fixed;
  for (std::size_t f = 0; f < cell.followed.size(); ++f) at.emplace_back(table.following[f].name, cell.followed[f]);
  for (const ChosenValue& chosen : cell.chosen) at.emplace_back(chosen.axis, chosen.value);
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

/// Returns the decimals of a value's cells: their typical half-width keeps one digit. Integers get none; times at most six digits.
int cell_decimals(const TableModel& table, std::size_t value) {
  std::vector<double> halves;
  bool whole = true;
  double largest = 0;
  each_cell(table, [&](const TableCell& cell) {
    if (cell.of != value) return;
    if (const double half = (cell.hi - cell.lo) / 2; half > 1e-12 * std::fabs(cell.centre)) halves.push_back(half);  // more than rounding
    for (const auto& v : cell.values) whole &= std::nearbyint(v.second) == v.second;
    largest = std::max(largest, std::fabs(cell.centre));
  });
  const int decimals = decimals_of(halves).value_or(table.values[value].unit == "%" ? 1 : whole ? 0 : 3);
  if (!table.values[value].median || !(largest > 0) || !std::isfinite(largest)) return decimals;
  return std::min(decimals, std::max(1, 5 - static_cast<int>(std::floor(std::log10(largest)))));
}

/// Returns how many decimals the comparisons of a value get: as many as its cells; percentages by the comparisons' half-widths.
int difference_decimals(const TableModel& table, std::size_t value) {
  if (!table.values[value].percent) return cell_decimals(table, value);
  std::vector<double> halves;
  each_cell(table, [&](const TableCell& cell) {
    if (cell.of == value) halves.push_back((cell.comparison.difference.hi - cell.comparison.difference.lo) / 2);
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

/// The values that a cell chose, " @0.3" for each axis in TableSpec::best, with "!" if it is the smallest or largest value tried.
std::string at_text(const std::vector<ChosenValue>& chosen) {
  std::string text;
  for (const ChosenValue& value : chosen) text += " @" + value.value + (value.at_edge ? "!" : "");
  return text;
}

/// Returns a cell's text: "74.1 ± 0.8", "74.1 ± n/a" (one seed), "n/a" (no value), "failed". Cells of the first value, by which `best`
/// chose, also show the chosen axis values. An n that differs from most cells' n is shown.
std::string cell_text(const TableCell& cell, const TableModel& table, int decimals, int seeds) {
  if (cell.n == 0) return cell.failed > 0 ? "failed" : "n/a";
  std::string text = number(cell.centre, decimals);
  const TableValue& value = table.values[cell.of];
  if (value.median || value.share) text += fmt::format(" [{}, {}]", number(cell.lo, decimals), number(cell.hi, decimals));
  else text += " ± " + (cell.n > 1 ? number((cell.hi - cell.lo) / 2, decimals) : "n/a");
  if (cell.of == 0) text += at_text(cell.chosen);
  if (cell.n != seeds) text += fmt::format(" (n={})", cell.n);
  return text;
}

/// Returns a comparison's text: "+0.9 ± 0.3 *" (significant), "0.0 ± 0.3" (rounded to zero: no sign), "+0.9 [0.2, 1.4] *" (of shares, or of
/// rows that chose a setting), "baseline", "n/a".
std::string difference_text(const TableCell& cell, const TableModel& table, int decimals) {
  const MeanInterval& d = cell.comparison.difference;
  if (table.spec.is_baseline(cell.row)) return "baseline";
  if (table.spec.baseline_of(cell.row).empty()) return "";  // the row is in no group, so it has no baseline
  if (d.n == 0) return "n/a";
  std::string text = with_sign(d.mean, number(d.mean, decimals));
  if (std::isnan(d.lo)) text += " ± n/a";
  else if (table.values[cell.of].share || !cell.comparison.among_choices.row_leads.empty())
    text += fmt::format(" [{}, {}]", number(d.lo, decimals), number(d.hi, decimals));
  else text += " ± " + number((d.hi - d.lo) / 2, decimals);
  if (is_significant(cell.comparison, table.spec)) text += " *";
  if (d.n != cell.n) text += fmt::format(" (n={})", d.n);
  return text;
}

/// The texts after a compared cell: its difference; with --power the standard deviation and the numbers of seeds needed.
std::vector<std::string> comparison_texts(const TableCell& cell, const TableModel& table, int decimals) {
  if (!(table.spec.power_difference > 0)) return {difference_text(cell, table, decimals)};
  if (table.spec.is_baseline(cell.row)) return {"baseline", "", ""};
  if (table.spec.baseline_of(cell.row).empty()) return {"", "", ""};
  const MeanInterval& d = cell.comparison.difference;
  if (d.n < 2) return {"n/a", "n/a", "n/a"};
  const SeedsNeeded needed = seeds_needed(cell.comparison, table, cell.of);
  const auto seeds = [](int n) { return n > 0 ? std::to_string(n) : "> 1000000"; };
  return {fmt::format("{} (n={})", number(d.sd, decimals + 1), d.n),
          fmt::format("{} [{}, {}]", seeds(needed.alone), seeds(needed.lo), seeds(needed.hi)), seeds(needed.among_all)};
}

/// A column's heading: "votes=8", or "grounding [%]" if columns are values.
std::string column_text(const TableModel& table, std::size_t column) {
  const std::string& axis = table.spec.columns;
  return axis == values_dimension ? value_text(table.values[column]) : label_or(table, axis, table.columns[column], axis + "=" + table.columns[column]);
}

}  // namespace

std::string value_text(const TableValue& value) { return value.unit.empty() ? value.name : fmt::format("{} [{}]", value.name, value.unit); }

std::string label_or(const TableModel& table, const std::string& dimension, const std::string& value, std::string plain) {
  const std::string last = dimension.substr(dimension.rfind('.') + 1);
  for (const std::string& name : {dimension + "=" + value, last + "=" + value, value})
    for (const auto& [labelled, text] : table.spec.labels)
      if (labelled == name) return text;
  return plain;
}

std::string entry_text(const TableModel& table, const std::string& dimension, const std::string& value) {
  return label_or(table, dimension, value, number_of(value) ? dimension + "=" + value : value);
}

std::string table_title(const TableModel& table) {
  return fmt::format("suite {}{}{}", table.suite, table.digest.empty() ? "" : ", digest " + table.digest,
                     table.values.size() == 1 ? ": " + value_text(table.values[0]) : "");
}

bool begins_group(const TableModel& table, std::size_t row) {
  const TableSpec& spec = table.spec;
  const auto in_group = [&](std::size_t r) { return spec.is_baseline(table.rows[r]) || !spec.baseline_of(table.rows[r]).empty(); };
  return !spec.groups.empty() && (spec.is_baseline(table.rows[row]) || (!in_group(row) && in_group(row - 1)));
}

std::string best_sentence(const TableModel& table) {
  if (std::none_of(table.values.begin(), table.values.end(), [](const TableValue& v) { return v.ranked; })) return "";
  const char* line = table.spec.rows == values_dimension ? "row" : "column";
  return fmt::format(
      "Bold: the best of a {}, and what a one-sided test, corrected for all pairs of the block, does not tell from it", line);
}

std::string baseline_text(const TableModel& table) {
  if (table.spec.groups.size() > 1) return "baseline";
  const std::string& name = table.spec.groups.empty() ? table.spec.baseline : table.spec.groups.front().baseline;
  return entry_text(table, table.spec.rows, name);
}

std::vector<std::string> comparison_headings(const TableModel& table, std::size_t value) {
  const bool percent = table.values[value].percent;
  const std::string against = (percent ? "vs " : "- ") + baseline_text(table);
  if (!(table.spec.power_difference > 0)) return {against + (percent ? " [%]" : "")};
  return {"sd " + against + (percent ? " [%]" : ""), "seeds", fmt::format("seeds of {}", std::max(table.tested[value], 1))};
}

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
  const bool compared = table.spec.compares();
  Grid grid;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    grid.heading.push_back({column_text(table, c)});
    if (compared)
      for (const std::string& heading : comparison_headings(table, table.spec.columns == values_dimension ? c : 0))
        grid.heading.back().push_back(heading);
  }
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    grid.body.emplace_back();
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const TableCell& cell = block.cells[r * table.columns.size() + c];
      grid.body.back().push_back({cell_text(cell, table, style.decimals[cell.of], style.seeds)});
      if (compared)
        for (const std::string& text : comparison_texts(cell, table, style.difference_decimals[cell.of]))
          grid.body.back().back().push_back(text);
    }
  }
  return grid;
}

std::string row_text(const TableModel& table, std::size_t row) {
  return table.spec.rows == values_dimension ? value_text(table.values[row]) : label_or(table, table.spec.rows, table.rows[row], table.rows[row]);
}

std::string block_text(const TableModel& table, const TableBlock& block, bool constant) {
  std::string text;
  for (const auto& [name, value] : block.fixed)
    if ((std::find(table.split.begin(), table.split.end(), name) == table.split.end()) == constant)
      add_item(text, label_or(table, name, value, name + "=" + value));
  return text;
}

}  // namespace odrpo
