// The table of a curve: its columns are the recorded steps.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "results/store/store.hpp"
#include "results/table/model.hpp"

namespace odrpo {

/// What a curve shows, and how: value_i = factor (curve_i - origin_i) of run i, where origins and factors are given for each run of the
/// file.
struct CurveValue {
  std::string name, unit, meaning;
  std::vector<double> origin, factor;  ///< one per run of the file; empty = 0 and 1
};

/// The runs behind the cells of a table, ascending: those whose curves curve_table wants.
std::vector<std::uint32_t> runs_behind(const TableModel& table);

/// The cells of `table` as curves: rows stay, each column becomes a block, the columns are the steps that any run recorded; at most
/// `most_steps` of them, the first and the last among them. Each cell has the runs of the table's first value, and so its chosen best
/// (learning rate); comparisons are between those. Failure usage when no run has a number.
TableModel curve_table(const TableModel& table, const CurveValue& value, std::span<const RunCurve> curves, std::size_t most_steps);

}  // namespace odrpo
