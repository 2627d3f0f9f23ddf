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
        cells[r * width + c].comparison = comparison(cells[r * width + c], {r, c}, cells[base * width + c], {base, c});
    }
    mark_best(cells);
    return cells;
  }

 private:
  struct Place {
    std::size_t row, column;
  };
  const TableSpec& spec() const { return table_.spec; }

  /// Marks the best of each column (of each row where rows are values), and what the test of the stars does not tell from it.
  void mark_best(std::vector<TableCell>& cells) {
    const bool by_row = spec().rows == values_dimension;
    const std::size_t width = table_.columns.size(), height = table_.rows.size();
    for (std::size_t line = 0; line < (by_row ? height : width); ++line) {
      std::vector<Place> places;
      for (std::size_t i = 0; i < (by_row ? width : height); ++i) places.push_back(by_row ? Place{line, i} : Place{i, line});
      const auto cell = [&](const Place& at) -> TableCell& { return cells[at.row * width + at.column]; };
      const TableValue& value = table_.values[cell(places[0]).of];
      if (!value.ranked) continue;
      const Place* best = nullptr;
      for (const Place& at : places)
        if (cell(at).n > 0 && (best == nullptr || (value.more_is_better ? cell(at).centre > cell(*best).centre
                                                                        : cell(at).centre < cell(*best).centre)))
          best = &at;
      if (best == nullptr) continue;
      std::vector<double> p;
      std::vector<bool> tie;  // the same for every seed
      for (const Place& at : places) {
        const Comparison against = &at == best || cell(at).n == 0 ? empty_cell().comparison : comparison(cell(at), at, cell(*best), *best);
        p.push_back(against.p);
        tie.push_back(against.difference.n > 0 && against.difference.mean == 0 && !(against.difference.sd > 0));
      }
      const std::vector<double> adjusted = holm_adjusted(p);
      for (std::size_t i = 0; i < places.size(); ++i)
        cell(places[i]).among_best = &places[i] == best || tie[i] || adjusted[i] >= star_level;  // false for NaN: not tested
    }
  }

  /// The candidates of a cell, which are the same for all values; nullptr where there is nothing to choose.
  const Candidates* candidates(std::size_t row, std::size_t column) {
    const std::span<const std::uint32_t> runs = pools_.of(block_, row, column);
    if (spec().best.empty() || runs.empty()) return nullptr;
    std::optional<Candidates>& found = candidates_[pools_.in_block(row, column)];
    if (!found) found = candidates_of(runs, from_.rule(spec()));
    return &*found;
  }

  /// Fills a cell from runs that agree in rows, columns and `best`.
  void fill(TableCell& cell, std::span<const std::uint32_t> runs) const {
    fill_cell(cell, runs, from_.facts, spec(), from_.shown[cell.of], table_.values[cell.of]);
    for (const Dimension* dimension : from_.following) cell.followed.push_back(dimension->entries[dimension->code[runs[0]]]);
  }
  void fill_at(TableCell& cell, const Candidates& of, std::size_t at) const { fill(cell, of.tried[at].runs); }

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
      fill(cell, runs);
    }
    return cell;
  }

  Comparison comparison(const TableCell& cell, const Place& at_cell, const TableCell& baseline, const Place& at_baseline) {
    const Shown& value = from_.shown[cell.of];
    const TableValue& kind = table_.values[cell.of];
    const Candidates *own = candidates(at_cell.row, at_cell.column), *other = candidates(at_baseline.row, at_baseline.column);
    if (own == nullptr || other == nullptr) return compare_cells(cell, baseline, value.word.factor, kind);
    const ComparedAt at = compared_at(*own, *other, from_.rule(spec()));
    TableCell row_there = empty_cell();
    row_there.of = cell.of;
    if (at.row != own->best) fill_at(row_there, *own, at.row);
    const TableCell& baseline_there = at.baseline == other->best ? baseline : baseline_at(cell.of, at_baseline, *other, at.baseline);
    Comparison compared = compare_cells(at.row == own->best ? cell : row_there, baseline_there, value.word.factor, kind);
    compared.row_at = chosen_values(*own, at.row, from_.rule(spec()));
    compared.baseline_at = chosen_values(*other, at.baseline, from_.rule(spec()));
    return compared;
  }

  /// A baseline's cell of a value and column at another of its candidates: made once, since many rows may ask.
  const TableCell& baseline_at(std::size_t value, const Place& place, const Candidates& of, std::size_t at) {
    const auto [found, is_new] = baselines_.try_emplace({value, place.row, place.column, at}, empty_cell());
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
