// The runs behind the cells of a table as what run_statistics takes.
#pragma once
#include <string>
#include <vector>

#include "results/stats/run_table.hpp"
#include "results/table/model.hpp"

namespace odrpo {

/// The dimensions that tell the cells of a table apart: rows, columns, and those that make blocks.
std::vector<std::string> cell_dimensions(const TableModel& table);

/// The runs of the table's first value, in the shown unit, at each cell's chosen best. A cell is a combination of the values of `cell`, a task
/// one of the values of `task`; together these are cell_dimensions(). Unit = seed. Failed runs and undefined values are left out.
RunTable table_runs(const TableModel& table, const std::vector<std::string>& cell, const std::vector<std::string>& task);

}  // namespace odrpo
