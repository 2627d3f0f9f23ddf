// Several differences in one table: Holm's correction, stars, and how many seeds a difference needs.
#include <cmath>
#include <vector>

#include "results/table_cells.hpp"

namespace odrpo {
namespace {

constexpr double star_level = 0.05;

}  // namespace

void correct_comparisons(TableModel& table) {
  table.tested.assign(table.values.size(), 0);
  for (std::size_t v = 0; v < table.values.size(); ++v) {
    std::vector<Comparison*> family;
    std::vector<double> p;
    for (TableBlock& block : table.blocks)
      for (TableCell& cell : block.cells)
        if (cell.of == v && !std::isnan(cell.comparison.p)) {
          family.push_back(&cell.comparison);
          p.push_back(cell.comparison.p);
        }
    const std::vector<double> adjusted = holm_adjusted(p);
    for (std::size_t i = 0; i < family.size(); ++i) family[i]->p_holm = adjusted[i];
    table.tested[v] = static_cast<int>(family.size());
  }
}

void mark_best(const TableModel& table, TableBlock& block, const std::vector<Shown>& shown) {
  const bool rows_are_values = table.spec.rows == values_dimension;
  const std::size_t width = table.columns.size();
  const auto mark = [&](const std::vector<TableCell*>& cells) {
    TableCell* best = nullptr;
    for (TableCell* cell : cells) {
      if (cell->n == 0) continue;
      const bool more = table.values[cell->of].more_is_better;
      if (best == nullptr || (more ? cell->centre > best->centre : cell->centre < best->centre)) best = cell;
    }
    if (best == nullptr) return;
    std::vector<double> p;
    for (const TableCell* cell : cells)
      p.push_back(cell == best ? std::nan("") : compare_cells(*cell, *best, shown[cell->of], table.values[cell->of]).p);
    const std::vector<double> adjusted = holm_adjusted(p);
    for (std::size_t i = 0; i < cells.size(); ++i) cells[i]->among_best = cells[i]->n > 0 && !(adjusted[i] < star_level);
  };
  for (std::size_t line = 0; line < (rows_are_values ? table.rows.size() : width); ++line) {
    std::vector<TableCell*> cells;  // of one value, to be compared with each other
    for (std::size_t i = 0; i < (rows_are_values ? width : table.rows.size()); ++i)
      cells.push_back(&block.cells[rows_are_values ? line * width + i : i * width + line]);
    mark(cells);
  }
}

bool is_significant(const Comparison& comparison, const TableSpec& spec) {
  return (spec.correction == Correction::holm ? comparison.p_holm : comparison.p) < star_level;  // false for NaN
}

SeedsNeeded seeds_needed(const Comparison& comparison, const TableModel& table, std::size_t value) {
  const MeanInterval& d = comparison.difference;
  if (d.n < 2) return {0, 0, 0, 0};
  const SdInterval sd = sd_interval(d.sd, d.n);
  const auto needed = [&](double s, double level) { return pairs_needed(table.spec.power_difference, s, level); };
  const int tests = table.tested[value] > 1 ? table.tested[value] : 1;
  return {needed(d.sd, star_level), needed(sd.lo, star_level), needed(sd.hi, star_level), needed(d.sd, star_level / tests)};
}

}  // namespace odrpo
