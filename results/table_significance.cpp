// Several differences in one table: Holm's correction, stars, and how many seeds a difference needs.
#include <cmath>
#include <vector>

#include "results/table_cells.hpp"

namespace odrpo {
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
