// From the cells of a table to runs by cell, task and unit.
#include "results/table/statistics_input.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "kernels/shared/failure.hpp"

namespace odrpo {

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
  for (const Entry& entry : entries) {  // cells in the table's order, tasks and units ascending
    const auto [at, is_new] = cells.emplace(entry.cell, static_cast<std::uint32_t>(runs.cells.size()));
    if (is_new) runs.cells.push_back(entry.cell);
    tasks[entry.task] = 0;
    for (const auto& [seed, value] : entry.from->values) units[seed] = 0;
  }
  for (auto& [name, number] : tasks) {
    number = static_cast<std::uint32_t>(runs.tasks.size());
    runs.tasks.push_back(joined_names(name));
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
    throw Failure(Exit::bad_input, "two runs have the same cell, task and seed");
  return runs;
}

}  // namespace odrpo
