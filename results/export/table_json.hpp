// JSON of a table, for --json.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "results/table/model.hpp"

namespace odrpo {

/// One JSON object (two-space indent, no final newline): spec, meaning, notes, raters, formulas, settings, blocks of cells. Undefined
/// numbers are null.
std::string table_json(const TableModel& table);
/// The same in pieces, one after the other: a table of many runs is a long text.
void write_table_json(const TableModel& table, const std::function<void(std::string_view)>& put);

}  // namespace odrpo
