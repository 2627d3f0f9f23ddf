// Several differences in one table: Holm's correction, stars, and how many seeds a difference needs.
#include <algorithm>
#include <cmath>
#include <vector>

#include "results/stats/power.hpp"
#include "results/table/cells.hpp"

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
        if (cell.tried > 1 || baseline.tried > 1) cell.comparison = not_tested(cell.comparison);
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
    const bool holm = table.spec.correction == Correction::holm;
    const std::vector<double> alphas = holm ? holm_alphas(p, star_level) : std::vector<double>(p.size(), star_level);
    for (std::size_t i = 0; i < family.size(); ++i) {
      family[i]->p_holm = adjusted[i];
      if (family[i]->among_choices.row_leads.empty()) continue;
      const LeadInterval lead = chosen_interval(family[i]->among_choices, alphas[i]);
      MeanInterval& d = family[i]->difference;
      const bool more = table.values[v].more_is_better;
      d.lo = more ? lead.lo : -lead.hi;
      d.hi = more ? lead.hi : -lead.lo;
    }
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
  const std::vector<Lead>& leads = comparison.among_choices.row_leads;
  const auto needed = [&](double s, double level) {
    const double wanted = table.spec.power_difference;
    if (leads.empty()) return pairs_needed(wanted, s, level);
    std::vector<AssumedMean> means;
    for (const Lead& lead : leads) {
      const double further = lead.by.mean - leads[0].by.mean;
      means.push_back({wanted + (further > 2 * lead.by.sd ? further : 0), lead.by.sd * (d.sd > 0 ? s / d.sd : 1), lead.with_first});
    }
    return pairs_for_all(means, level);
  };
  const int tests = std::max(table.tested[value], 1);
  return {needed(d.sd, star_level), needed(sd.lo, star_level), needed(sd.hi, star_level), needed(d.sd, star_level / tests)};
}

}  // namespace odrpo
