// Several differences in one table: Holm's correction, stars, and how many seeds a difference needs.
#include <algorithm>
#include <cmath>
#include <vector>

#include "results/table_cells.hpp"

namespace odrpo {

void compare_rows(TableModel& table, double whole) {
  const std::size_t width = table.columns.size();
  for (std::size_t r = 0; r < table.rows.size() && table.spec.compares(); ++r) {
    const auto base = std::find(table.rows.begin(), table.rows.end(), table.spec.baseline_of(table.rows[r]));
    if (base == table.rows.end()) continue;
    const auto b = static_cast<std::size_t>(base - table.rows.begin());
    for (TableBlock& block : table.blocks)
      for (std::size_t c = 0; c < width; ++c) {
        TableCell& cell = block.cells[r * width + c];
        const TableCell& baseline = block.cells[b * width + c];
        cell.comparison = compare_cells(cell, baseline, whole, table.values[0]);
        cell.comparison.row_at = cell.chosen;
        cell.comparison.baseline_at = baseline.chosen;
      }
  }
  correct_comparisons(table);
}

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
