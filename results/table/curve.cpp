// Turns recorded curves into a table with one column per step. Extracts the runs behind the cells of a table, for statistics.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "kernels/system/fail.hpp"
#include "results/table/cells.hpp"
#include "results/table/table.hpp"

namespace odrpo {
namespace {

constexpr double most_cells = 2e6;

/// Returns the steps that any run recorded. If there are more than `most`, thins them evenly and keeps the first and the last.
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
    fail(Exit::limits, "curves of {} rows at {} steps in {} panels are too many; choose other rows and columns", table.rows.size(),
         steps.size(), table.columns.size() * table.blocks.size());
  std::vector<const RunCurve*> of;  // the curve of each run
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

// Converts the cells of a table to runs by cell, task and unit (seed).

std::vector<std::string> cell_dimensions(const TableModel& table) {
  std::vector<std::string> names;
  for (const std::string& name : {table.spec.rows, table.spec.columns})
    if (name != values_dimension) names.push_back(name);
  names.insert(names.end(), table.split.begin(), table.split.end());
  return names;
}

RunTable table_runs(const TableModel& table, const std::vector<std::string>& cell, const std::vector<std::string>& task) {
  struct Entry {
    std::vector<std::string> cell, task;
    const TableCell* from;
  };
  std::vector<Entry> entries;
  RunTable runs;
  for (const TableBlock& block : table.blocks)
    for (const TableCell& from : block.cells) {
      if (from.of != 0) continue;
      runs.flattered = runs.flattered || (from.tried > 1 && table.spec.tune_seeds == 0);
      const auto value_of = [&](const std::string& name) -> std::string {
        if (name == table.spec.rows) return from.row;
        if (name == table.spec.columns) return from.column;
        for (const auto& [axis, value] : block.fixed)
          if (axis == name) return value;
        throw Failure(Exit::internal, "a table has no dimension " + name);
      };
      Entry entry{{}, {}, &from};
      for (const std::string& name : cell) entry.cell.push_back(value_of(name));
      for (const std::string& name : task) entry.task.push_back(value_of(name));
      runs.not_a_number += static_cast<std::size_t>(from.undefined + from.failed);
      if (!from.values.empty()) entries.push_back(std::move(entry));
    }
  std::map<std::vector<std::string>, std::uint32_t> cells, tasks;
  std::map<int, std::uint32_t> units;
  for (const Entry& entry : entries) {  // cells in the table's order; tasks and units ascend
    const auto [at, is_new] = cells.emplace(entry.cell, static_cast<std::uint32_t>(runs.cells.size()));
    if (is_new) runs.cells.push_back(entry.cell);
    tasks[entry.task] = 0;
    for (const auto& [seed, value] : entry.from->values) units[seed] = 0;
  }
  for (auto& [name, number] : tasks) {
    number = static_cast<std::uint32_t>(runs.tasks.size());
    runs.tasks.push_back(joined(name));
  }
  for (auto& [seed, number] : units) {
    number = static_cast<std::uint32_t>(runs.units.size());
    runs.units.push_back(std::to_string(seed));
  }
  runs.more_is_better = table.values[0].more_is_better;
  if (table.spec.chose_apart())
    runs.other_choices.assign(runs.cells.size(), std::vector<std::vector<RunTable::UnitValues>>(runs.tasks.size()));
  for (const Entry& entry : entries) {
    const std::uint32_t c = cells.at(entry.cell), t = tasks.at(entry.task);
    for (const auto& [seed, value] : entry.from->values) runs.runs.push_back({c, t, units.at(seed), value, 0});
    for (const SeedValues& there : entry.from->other_choices) {
      RunTable::UnitValues& values = runs.other_choices[c][t].emplace_back();
      for (const auto& [seed, value] : there)
        if (const auto unit = units.find(seed); unit != units.end()) values.emplace_back(unit->second, value);
    }
  }
  const auto place = [](const RunTable::Run& run) { return std::tuple(run.cell, run.task, run.unit); };
  std::stable_sort(runs.runs.begin(), runs.runs.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  if (std::adjacent_find(runs.runs.begin(), runs.runs.end(), [&](const auto& a, const auto& b) { return place(a) == place(b); }) !=
      runs.runs.end())
    fail(Exit::bad_input, "two runs have the same cell, task and seed");
  return runs;
}

}  // namespace odrpo
