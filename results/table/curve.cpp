// Puts recorded curves into the cells of a table: one column per step.
#include "results/table/curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kernels/shared/failure.hpp"
#include "results/table/cells.hpp"

namespace odrpo {
namespace {

constexpr double most_cells = 2e6;

/// Steps that any run recorded, thinned evenly to at most `most`; the first and the last stay.
std::vector<std::int32_t> shown_steps(std::span<const RunCurve> curves, std::size_t most) {
  std::set<std::int32_t> all;
  for (const RunCurve& curve : curves) all.insert(curve.step.begin(), curve.step.end());
  const std::vector<std::int32_t> steps(all.begin(), all.end());
  if (steps.size() <= most) return steps;
  std::vector<std::int32_t> shown;
  for (std::size_t i = 0; i < most; ++i) shown.push_back(steps[i * (steps.size() - 1) / (most - 1)]);
  return shown;
}

}  // namespace

std::vector<std::uint32_t> runs_behind(const TableModel& table) {
  std::vector<std::uint32_t> runs;
  for (const TableBlock& block : table.blocks)
    for (const TableCell& cell : block.cells)
      if (cell.of == 0) runs.insert(runs.end(), cell.runs.begin(), cell.runs.end());
  std::sort(runs.begin(), runs.end());
  runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
  return runs;
}

TableModel curve_table(const TableModel& table, const CurveValue& value, std::span<const RunCurve> curves, std::size_t most_steps) {
  const std::vector<std::int32_t> steps = shown_steps(curves, most_steps);
  if (steps.empty()) throw Failure(Exit::usage, "no run behind the table has a number of the curve \"" + value.name + "\"");
  TableModel out = table;
  out.spec.columns = "step";
  out.spec.value = {value.name};
  out.spec.compare = Compare::difference;
  out.values = {{value.name, value.unit, value.meaning, false, false, false, true, false}};
  out.columns.clear();
  for (const std::int32_t step : steps) out.columns.push_back(std::to_string(step));
  out.blocks.clear();
  if (static_cast<double>(table.rows.size() * steps.size() * table.columns.size() * table.blocks.size()) > most_cells)
    throw Failure(Exit::limits, fmt::format("curves of {} rows at {} steps in {} panels are too many; choose other rows and columns",
                                            table.rows.size(), steps.size(), table.columns.size() * table.blocks.size()));
  std::vector<const RunCurve*> of;  // by run
  for (const RunCurve& curve : curves) {
    if (curve.run >= of.size()) of.resize(curve.run + 1, nullptr);
    of[curve.run] = &curve;
  }
  const bool over_values = table.spec.columns == values_dimension;  // all columns have the same runs
  const std::size_t width = over_values ? 1 : table.columns.size();
  if (width > 1) out.split.push_back(table.spec.columns);
  for (const TableBlock& block : table.blocks)
    for (std::size_t c = 0; c < width; ++c) {
      TableBlock& made = out.blocks.emplace_back();
      made.fixed = block.fixed;
      if (!over_values) made.fixed.emplace_back(table.spec.columns, table.columns[c]);
      for (std::size_t r = 0; r < table.rows.size(); ++r) {
        const TableCell& from = block.cells[r * table.columns.size() + c];
        for (const std::int32_t step : steps) {
          TableCell& cell = made.cells.emplace_back(empty_cell());
          cell.row = from.row;
          cell.column = std::to_string(step);
          cell.chosen = from.chosen;
          cell.tried = from.tried;
          cell.failed = from.failed;
          for (std::size_t i = 0; i < from.runs.size(); ++i) {
            const std::uint32_t run = from.runs[i];
            const RunCurve* curve = run < of.size() ? of[run] : nullptr;
            if (curve == nullptr) continue;
            const auto at = std::lower_bound(curve->step.begin(), curve->step.end(), step);
            if (at == curve->step.end() || *at != step) continue;
            const double number = curve->value[static_cast<std::size_t>(at - curve->step.begin())];
            const double shown = value.origin.empty() ? number : value.factor[run] * (number - value.origin[run]);
            if (std::isnan(shown)) continue;
            cell.values.emplace_back(from.values[i].first, shown);
            cell.runs.push_back(run);
          }
          summarise(cell, 1, out.values[0]);
        }
      }
    }
  compare_rows(out, 1);
  return out;
}

}  // namespace odrpo
