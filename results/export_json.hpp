// JSON of a table, for --json.
#pragma once
#include <string>

#include "results/table.hpp"

namespace odrpo {

/// One JSON object (two-space indent, no final newline): spec, meaning, notes, raters, formulas, settings, blocks of cells. Undefined
/// numbers are null.
std::string table_json(const TableModel& table);

}  // namespace odrpo
