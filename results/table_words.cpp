// What a table says about its numbers, in words; and the text of one cell.
#include "results/table_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

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

}  // namespace

int table_decimals(const TableModel& table) {
  std::vector<double> halves;
  bool whole = true;
  each_cell(table, [&](const TableCell& cell) {
    if (const double half = (cell.hi - cell.lo) / 2; half > 0 && std::isfinite(half)) halves.push_back(half);
    for (const auto& v : cell.values) whole &= std::nearbyint(v.second) == v.second;
  });
  if (halves.empty()) return table.unit == "%" ? 1 : whole ? 0 : 3;
  std::nth_element(halves.begin(), halves.begin() + static_cast<std::ptrdiff_t>(halves.size() / 2), halves.end());
  return std::clamp(static_cast<int>(std::ceil(-std::log10(halves[halves.size() / 2]))), 1, 9);
}

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

std::string cell_text(const TableCell& cell, const TableModel& table, int decimals, int seeds) {
  if (cell.n == 0) return cell.failed > 0 ? "failed" : "n/a";
  std::string text = number(cell.centre, decimals);
  if (table.median || table.share) text += fmt::format(" [{}, {}]", number(cell.lo, decimals), number(cell.hi, decimals));
  else text += " ± " + (cell.n > 1 ? number((cell.hi - cell.lo) / 2, decimals) : "n/a");
  for (const auto& choice : cell.chosen) text += " @" + choice.second;
  if (cell.n != seeds) text += fmt::format(" (n={})", cell.n);
  return text;
}

std::string difference_text(const TableCell& cell, const TableModel& table, int decimals) {
  const MeanInterval& d = cell.difference;
  if (cell.row == table.spec.baseline) return "baseline";
  if (d.n == 0) return "n/a";
  std::string text = fmt::format("{}{}", d.mean >= 0 ? "+" : "", number(d.mean, decimals));
  if (table.share) text += fmt::format(" [{}, {}]", number(d.lo, decimals), number(d.hi, decimals));
  else text += " ± " + (d.n > 1 ? number((d.hi - d.lo) / 2, decimals) : "n/a");
  if (d.n == 1 && !table.share) return text;
  if (d.lo > 0 || d.hi < 0) text += " *";
  if (d.n != cell.n) text += fmt::format(" (n={})", d.n);
  return text;
}

std::string column_text(const TableModel& table, std::size_t column) { return table.spec.columns + "=" + table.columns[column]; }

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
  std::string value = spec.value;
  if (!table.unit.empty()) value += " [" + table.unit + "]";
  said.push_back(value + (table.meaning.empty() ? ": the file's column of this name" : ": " + table.meaning));
  int low = 1 << 30, high = 0;
  each_cell(table, [&](const TableCell& cell) {
    low = std::min(low, cell.n);
    high = std::max(high, cell.n);
  });
  const std::string n = high == 0 ? "0" : low == high ? std::to_string(low) : fmt::format("{} to {}", low, high);
  said.push_back(table.median  ? fmt::format("cells: median over n = {} seeds [first quartile, third quartile]", n)
                 : table.share ? fmt::format("cells: share of n = {} runs [95 % Wilson interval]", n)
                               : fmt::format("cells: mean over n = {} seeds ± half-width of the 95 % Student-t interval of the mean", n));
  if (!spec.baseline.empty())
    said.push_back(fmt::format(
        "column \"- {}\": this row minus {}, paired by seed: {}; * = the interval excludes 0", spec.baseline, spec.baseline,
        table.share ? "difference of shares [95 % interval, Newcombe's for pairs]" : "mean ± half-width of its 95 % Student-t interval"));
  if (!spec.best.empty()) {
    const std::string axes = fmt::format("{}", fmt::join(spec.best, ", "));
    said.push_back(
        spec.tune_seeds > 0
            ? fmt::format("@: the {} with the best mean on seeds 0 to {}, chosen per cell; the other seeds are reported", axes,
                          spec.tune_seeds - 1)
            : fmt::format("@: the {} with the best mean, chosen per cell; chosen on the reported seeds, which flatters every cell", axes));
  }
  if (!table.blocks.empty()) {
    std::string same = block_text(table, table.blocks[0], true);
    for (const auto& [key, set] : table.settings) same += fmt::format("{}{}={}", same.empty() ? "" : ", ", key, set);
    if (!same.empty()) said.push_back("everywhere: " + same);
  }
  for (const std::string& note : table.notes) said.push_back("note: " + note);
  return said;
}

}  // namespace odrpo
