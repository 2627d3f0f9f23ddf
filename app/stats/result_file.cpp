// `stats` of a result file: the runs of the suite's own table, or of another cut through them.
#include <fmt/format.h>

#include <algorithm>

#include "app/stats/stats_report.hpp"
#include "app/table/query.hpp"
#include "kernels/system/printable.hpp"
#include "results/table/dimensions.hpp"
#include "results/table/statistics_input.hpp"

namespace odrpo::app {
namespace {

/// The table's dimension that a word means. Failure usage.
std::string dimension_of(const std::vector<std::string>& names, const std::string& word, const char* flag) {
  const std::string name = word == values_dimension ? word : dimension_named(names, word, flag);
  if (std::find(names.begin(), names.end(), name) != names.end()) return name;
  throw Failure(Exit::usage, fmt::format("{}: the values of a table do not tell its cells apart", flag));
}

}  // namespace

void read_result_runs(const StatsOptions& o, const std::vector<std::string>& cell, const std::vector<std::string>& task,
                      StatsReport& report) {
  if (!o.unit.empty() && o.unit != "seed") throw Failure(Exit::usage, "--unit: the runs of a result file are paired by seed");
  TableQuery query;
  query.path = o.path;
  query.where = o.where;
  query.max_seconds = o.max_seconds;
  query.max_memory = o.max_memory;
  if (!o.value.empty()) query.value = {o.value};
  if (!cell.empty()) query.rows = cell[0];  // so that a table without the suite's own axes is found too
  if (cell.size() > 1) query.columns = cell[1];
  else if (!cell.empty() && !task.empty()) query.columns = task[0];
  const TableModel table = query_table(read_table_file(query), query);
  std::vector<std::string> left = cell_dimensions(table);
  const auto take = [&](const std::vector<std::string>& words, const char* flag) {
    std::vector<std::string> taken;
    for (const std::string& word : words) {
      taken.push_back(dimension_of(left, word, flag));
      std::erase(left, taken.back());
    }
    return taken;
  };
  report.columns.unit = "seed";
  report.columns.value = value_text(table.values[0]);
  report.columns.task = take(task, "--task");
  report.columns.cell = take(cell, "--cell");
  report.columns.cell.insert(report.columns.cell.end(), left.begin(), left.end());  // what is neither, tells cells apart too
  report.runs = table_runs(table, report.columns.cell, report.columns.task);
  for (const std::string& axis : table.spec.best)
    report.notes.push_back(fmt::format(
        "each cell is taken at its own best {}{}", axis,
        table.spec.tune_seeds > 0
            ? fmt::format(
                  ", chosen on the first {} seeds, which are not counted; a star says that one of two cells beats the other at every {} "
                  "that it might have chosen{}",
                  table.spec.tune_seeds, axis, report.runs.tasks.size() > 1 ? ", and at every combination of them over the tasks" : "")
            : ", chosen on the seeds that are counted, which flatters it: no difference is tested"));
  if (!table.spec.groups.empty() && o.baseline.empty())
    report.notes.push_back("the suite's table has several baselines, and nothing is compared here: --baseline names one");
  report.notes.insert(report.notes.end(), table.notes.begin(), table.notes.end());
  report.usual_baseline = table.spec.baseline;
}

}  // namespace odrpo::app
