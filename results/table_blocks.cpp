// Makes the cells of a block: which runs each is made of, its numbers, its comparison with the baseline.
#include "results/table_blocks.hpp"

#include <map>
#include <optional>
#include <string_view>
#include <tuple>

namespace odrpo {
namespace {

/// The cells of one block.
class BlockMaker {
 public:
  BlockMaker(const TableModel& table, const TableSource& from, const RunPools& pools, std::size_t block)
      : table_(table), from_(from), pools_(pools), block_(block), candidates_(spec().best.empty() ? 0 : pools.rows * pools.columns) {}

  std::vector<TableCell> cells() {
    const std::size_t width = table_.columns.size();
    std::vector<TableCell> cells;
    cells.reserve(table_.rows.size() * width);
    for (std::size_t i = 0; i < table_.rows.size() * width; ++i) cells.push_back(cell(i / width, i % width));
    std::map<std::string_view, std::size_t> place;
    for (std::size_t r = 0; r < table_.rows.size() && spec().compares(); ++r) place[table_.rows[r]] = r;
    for (std::size_t r = 0; r < table_.rows.size(); ++r) {
      const auto found = place.find(spec().baseline_of(table_.rows[r]));
      if (found == place.end()) continue;
      const std::size_t base = found->second;
      for (std::size_t c = 0; c < width; ++c)
        cells[r * width + c].comparison = comparison(cells[r * width + c], r, cells[base * width + c], base, c);
    }
    return cells;
  }

 private:
  const TableSpec& spec() const { return table_.spec; }

  /// The candidates of a cell, which are the same for all values; nullptr where there is nothing to choose.
  const Candidates* candidates(std::size_t row, std::size_t column) {
    const std::span<const std::uint32_t> runs = pools_.of(block_, row, column);
    if (spec().best.empty() || runs.empty()) return nullptr;
    std::optional<Candidates>& found = candidates_[pools_.in_block(row, column)];
    if (!found) found = candidates_of(runs, from_.rule(spec()));
    return &*found;
  }

  /// Fills a cell's numbers from the runs of one candidate.
  void fill_at(TableCell& cell, const Candidates& of, std::size_t at) const {
    fill_cell(cell, of.tried[at].runs, from_.facts, spec(), from_.shown[cell.of], table_.values[cell.of]);
  }

  TableCell cell(std::size_t row, std::size_t column) {
    TableCell cell = empty_cell();
    cell.row = table_.rows[row];
    cell.column = table_.columns[column];
    cell.of = spec().rows == values_dimension ? row : spec().columns == values_dimension ? column : 0;
    const std::span<const std::uint32_t> runs = pools_.of(block_, row, column);
    if (const Candidates* of = candidates(row, column)) {
      cell.chosen = chosen_values(*of, of->best, from_.rule(spec()));
      fill_at(cell, *of, of->best);
    } else if (!runs.empty()) {
      fill_cell(cell, runs, from_.facts, spec(), from_.shown[cell.of], table_.values[cell.of]);
    }
    return cell;
  }

  Comparison comparison(const TableCell& cell, std::size_t row, const TableCell& baseline, std::size_t base, std::size_t column) {
    const Shown& value = from_.shown[cell.of];
    const TableValue& kind = table_.values[cell.of];
    const Candidates *own = candidates(row, column), *other = candidates(base, column);
    if (own == nullptr || other == nullptr) return compare_cells(cell, baseline, value, kind);
    const ComparedAt at = compared_at(*own, *other, from_.rule(spec()));
    TableCell row_there = empty_cell();
    row_there.of = cell.of;
    if (at.row != own->best) fill_at(row_there, *own, at.row);
    const TableCell& baseline_there = at.baseline == other->best ? baseline : baseline_at(cell.of, base, column, *other, at.baseline);
    Comparison compared = compare_cells(at.row == own->best ? cell : row_there, baseline_there, value, kind);
    compared.row_at = chosen_values(*own, at.row, from_.rule(spec()));
    compared.baseline_at = chosen_values(*other, at.baseline, from_.rule(spec()));
    return compared;
  }

  /// A baseline's cell of a value and column at another of its candidates: made once, since many rows may ask.
  const TableCell& baseline_at(std::size_t value, std::size_t base, std::size_t column, const Candidates& of, std::size_t at) {
    const auto [found, is_new] = baselines_.try_emplace({value, base, column, at}, empty_cell());
    if (is_new) {
      found->second.of = value;
      fill_at(found->second, of, at);
    }
    return found->second;
  }

  const TableModel& table_;
  const TableSource& from_;
  const RunPools& pools_;
  std::size_t block_;
  std::vector<std::optional<Candidates>> candidates_;
  std::map<std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>, TableCell> baselines_;
};

}  // namespace

RunPools pools_of(const TableSource& from, const TableSpec& spec, std::size_t runs) {
  const Dimension *row = from.dimension(spec.rows), *column = from.dimension(spec.columns);
  RunPools pools{row ? row->entries.size() : 1, column ? column->entries.size() : 1, {}};
  std::vector<std::uint32_t> code(runs);
  for (std::size_t i = 0; i < runs; ++i)
    code[i] = static_cast<std::uint32_t>((from.blocks.of(i) * pools.rows + (row ? row->code[i] : 0)) * pools.columns +
                                         (column ? column->code[i] : 0));
  pools.runs = sorted_runs(code, from.blocks.first.size() * pools.rows * pools.columns);
  return pools;
}

std::vector<TableCell> block_cells(const TableModel& table, const TableSource& from, const RunPools& pools, std::size_t block) {
  return BlockMaker(table, from, pools, block).cells();
}

}  // namespace odrpo
