// From the cells of a table to runs by cell, task and unit.
#include "results/table_statistics.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "kernels/failure.hpp"

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
    int seed;
    double value;
    std::size_t choice;  // 0: the cell's own
  };
  std::vector<Entry> entries;
  std::vector<std::pair<std::vector<std::string>, std::size_t>> choices_without_runs;  // which a row is not shown to beat
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
      Entry entry{{}, {}, 0, 0, 0};
      for (const std::string& name : cell) entry.cell.push_back(value_of(name));
      for (const std::string& name : task) entry.task.push_back(value_of(name));
      runs.not_a_number += static_cast<std::size_t>(from.undefined + from.failed);
      for (const auto& [seed, value] : from.values) {
        entry.seed = seed;
        entry.value = value;
        entries.push_back(entry);
      }
      for (const SeedValues& there : from.other_choices) {
        ++entry.choice;
        if (there.empty()) choices_without_runs.emplace_back(entry.cell, entry.choice);
        for (const auto& [seed, value] : there) {
          entry.seed = seed;
          entry.value = value;
          entries.push_back(entry);
        }
      }
    }
  std::map<std::vector<std::string>, std::uint32_t> cells, tasks;
  std::map<int, std::uint32_t> units;
  for (const Entry& entry : entries) {  // cells in the table's order, tasks and units ascending
    const auto [at, is_new] = cells.emplace(entry.cell, static_cast<std::uint32_t>(runs.cells.size()));
    if (is_new) runs.cells.push_back(entry.cell);
    tasks[entry.task] = 0;
    units[entry.seed] = 0;
  }
  for (auto& [name, number] : tasks) {
    number = static_cast<std::uint32_t>(runs.tasks.size());
    runs.tasks.push_back(joined_names(name));
  }
  for (auto& [seed, number] : units) {
    number = static_cast<std::uint32_t>(runs.units.size());
    runs.units.push_back(std::to_string(seed));
  }
  runs.other_choices.resize(runs.cells.size());
  runs.more_is_better = table.values[0].more_is_better;
  std::map<std::pair<std::uint32_t, std::size_t>, std::uint32_t> others;
  const auto other_cell = [&](std::uint32_t cell, std::size_t choice) {
    const auto [at, is_new] = others.try_emplace({cell, choice}, static_cast<std::uint32_t>(runs.cells.size() + others.size()));
    if (is_new) runs.other_choices[cell].push_back(at->second);
    return at->second;
  };
  for (const auto& [name, choice] : choices_without_runs)
    if (const auto found = cells.find(name); found != cells.end()) other_cell(found->second, choice);
  for (const Entry& entry : entries) {
    std::uint32_t cell = cells.at(entry.cell);
    if (entry.choice > 0) cell = other_cell(cell, entry.choice);
    (entry.choice > 0 ? runs.other_runs : runs.runs).push_back({cell, tasks.at(entry.task), units.at(entry.seed), entry.value, 0});
  }
  const auto place = [](const RunTable::Run& run) { return std::tuple(run.cell, run.task, run.unit); };
  for (auto* list : {&runs.runs, &runs.other_runs})
    std::stable_sort(list->begin(), list->end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  if (std::adjacent_find(runs.runs.begin(), runs.runs.end(), [&](const auto& a, const auto& b) { return place(a) == place(b); }) !=
      runs.runs.end())
    throw Failure(Exit::bad_input, "two runs have the same cell, task and seed");
  return runs;
}

}  // namespace odrpo
