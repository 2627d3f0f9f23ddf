// Makes the cells of a block: finds the runs of each, chooses its learning rate, computes its numbers, and compares it with the baseline.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "results/table/cells.hpp"
#include "results/table/dimensions.hpp"

namespace odrpo {
namespace {

/// Computes the cells of one block.
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
        cells[r * width + c].comparison = comparison(cells[r * width + c], cells[base * width + c]);
    }
    mark_best(cells);
    return cells;
  }

 private:
  struct Place {
    std::size_t row, column;
  };
  const TableSpec& spec() const { return table_.spec; }

  /// Marks the best cell of each column (of each row if rows are values), and cells that a one-sided test cannot tell from it. Since the
  /// same runs decide which is best, the test is corrected for all ordered pairs of cells in the block's columns.
  void mark_best(std::vector<TableCell>& cells) {
    const bool by_row = spec().rows == values_dimension;
    const std::size_t width = table_.columns.size(), height = table_.rows.size();
    const auto cell = [&](const Place& at) -> TableCell& { return cells[at.row * width + at.column]; };
    std::vector<std::vector<Place>> lines(by_row ? height : width);  // cells with numbers, by column (or by row)
    std::vector<double> pairs(table_.values.size());
    for (std::size_t l = 0; l < lines.size(); ++l) {
      for (std::size_t i = 0; i < (by_row ? width : height); ++i)
        if (const Place at = by_row ? Place{l, i} : Place{i, l}; cell(at).n > 0) lines[l].push_back(at);
      const auto filled = static_cast<double>(lines[l].size());
      if (filled > 0) pairs[cell(lines[l][0]).of] += filled * (filled - 1);
    }
    for (const std::vector<Place>& line : lines) {
      if (line.empty()) continue;
      const std::size_t of = cell(line[0]).of;
      const bool more = table_.values[of].more_is_better;
      if (!table_.values[of].ranked) continue;
      const Place& best = *std::max_element(line.begin(), line.end(), [&](const Place& a, const Place& b) {
        return more ? cell(a).centre < cell(b).centre : cell(a).centre > cell(b).centre;
      });
      for (const Place& at : line) {
        const std::vector<Lead> leads = leads_over(cell(best).values, cell(at).values, cell(at).other_choices, of);
        const bool tested = leads[0].by.n > 1 && (spec().chose_apart() || (cell(at).tried < 2 && cell(best).tried < 2));
        const bool tie = leads[0].by.mean == 0 && !(leads[0].by.sd > 0);  // both cells are equal at every seed
        cell(at).among_best = &at == &best || tie || (tested && beats_all_p(leads) > star_level / pairs[of]);
      }
    }
  }

  /// Returns the settings that a cell may choose (Candidates), whichever value is shown; nullptr if TableSpec::best is empty.
  const Candidates* candidates(std::size_t row, std::size_t column) {
    const std::span<const std::uint32_t> runs = pools_.of(block_, row, column);
    if (spec().best.empty() || runs.empty()) return nullptr;
    std::optional<Candidates>& found = candidates_[pools_.in_block(row, column)];
    if (!found) found = candidates_of(runs, from_.rule(spec()));
    return &*found;
  }

  /// Fills a cell from runs that agree in rows, columns and the axes in TableSpec::best.
  void fill(TableCell& cell, std::span<const std::uint32_t> runs) const {
    fill_cell(cell, runs, from_.facts, spec(), from_.shown[cell.of], table_.values[cell.of]);
    for (const Dimension* dimension : from_.following) cell.followed.push_back(dimension->entries[dimension->code[runs[0]]]);
  }

  TableCell cell(std::size_t row, std::size_t column) {
    TableCell cell = empty_cell();
    cell.row = table_.rows[row];
    cell.column = table_.columns[column];
    cell.of = spec().rows == values_dimension ? row : spec().columns == values_dimension ? column : 0;
    const std::span<const std::uint32_t> runs = pools_.of(block_, row, column);
    const Candidates* of = candidates(row, column);
    if (of) cell.tried = static_cast<int>(of->tried.size());
    for (std::size_t c = 0; of && spec().chose_apart() && c < of->tried.size(); ++c) {
      if (c == of->best || !of->may_choose(c)) continue;
      TableCell other = empty_cell();
      other.of = cell.of;
      fill(other, of->tried[c].runs);
      cell.other_choices.push_back(std::move(other.values));
    }
    if (of && spec().chose_apart() && !of->is_chosen()) {
      for (const std::uint32_t i : runs) cell.failed += from_.facts.failed[i];
    } else if (of) {
      cell.chosen = chosen_values(*of, of->best, from_.rule(spec()));
      fill(cell, of->tried[of->best].runs);
      for (std::size_t i = 0; i < cell.chosen.size(); ++i)
        cell.chosen[i].too_coarse = is_too_coarse(*of, i, from_.rule(spec()), (cell.hi - cell.lo) / 2);
    } else if (!runs.empty()) {
      fill(cell, runs);
    }
    return cell;
  }

  /// Returns the row's leads over the baseline: first over the baseline's setting, then over each other one that it might have chosen.
  std::vector<Lead> leads_over(const SeedValues& row, const SeedValues& baseline, const std::vector<SeedValues>& others, std::size_t of) const {
    std::vector<Lead> leads{lead(row, baseline, of)};
    for (const SeedValues& other : others) {
      leads.push_back(lead(row, other, of));
      leads.back().with_first = correlation_of_leads(row, baseline, other);
    }
    return leads;
  }
  Lead lead(const SeedValues& row, const SeedValues& baseline, std::size_t of) const {
    return lead_of(row, baseline, from_.shown[of].word.factor, table_.values[of]);
  }

  Comparison comparison(const TableCell& row, const TableCell& baseline) const {
    const std::size_t of = row.of;
    Comparison compared = compare_cells(row, baseline, from_.shown[of].word.factor, table_.values[of]);
    if (!spec().chose_apart()) return row.tried > 1 || baseline.tried > 1 ? not_tested(compared) : compared;
    if (std::isnan(compared.p)) return compared;
    const auto shown = [&](const SeedValues& values) { return table_.values[of].percent ? in_percent_of(values, baseline.values) : values; };
    const auto all_shown = [&](const std::vector<SeedValues>& list) {
      std::vector<SeedValues> out;
      for (const SeedValues& values : list) out.push_back(shown(values));
      return out;
    };
    const SeedValues own = shown(row.values), other = shown(baseline.values);
    compared.among_choices.row_leads = leads_over(own, other, all_shown(baseline.other_choices), of);
    compared.among_choices.baseline_leads = {reversed(compared.among_choices.row_leads[0])};
    for (const SeedValues& there : all_shown(row.other_choices)) compared.among_choices.baseline_leads.push_back(reversed(lead(there, other, of)));
    compared.p = chosen_p(compared.among_choices);
    return compared;
  }

  const TableModel& table_;
  const TableSource& from_;
  const RunPools& pools_;
  std::size_t block_;
  std::vector<std::optional<Candidates>> candidates_;
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

// Chooses a cell's learning rate (or its value of another best axis).

namespace {

const std::string& value_of(const Dimension& axis, const Candidate& candidate, const ChoiceRule& rule) {
  return axis.entries[axis.code[rule.choices.first[candidate.choice]]];
}

bool is_better(double a, double b, const Shown& value) { return value.word.more_is_better ? a > b : a < b; }

bool is_better(const Candidate& a, const Candidate& b, const Shown& value) {
  if (std::isnan(a.score.mean) || std::isnan(b.score.mean)) return !std::isnan(a.score.mean);
  if (a.lost != b.lost) return a.lost < b.lost;
  return is_better(a.score.mean, b.score.mean, value);
}

Candidates::Range range_of(const Dimension& axis, const std::vector<Candidate>& tried, const ChoiceRule& rule) {
  std::set<double> numbers;
  for (const Candidate& candidate : tried) {
    const auto number = number_of(value_of(axis, candidate, rule));
    if (!number) return {0, 0, false};
    numbers.insert(*number);
  }
  return numbers.empty() ? Candidates::Range{0, 0, false} : Candidates::Range{*numbers.begin(), *numbers.rbegin(), numbers.size() > 2};
}

}  // namespace

Candidates candidates_of(std::span<const std::uint32_t> runs, const ChoiceRule& rule) {
  Candidates of;
  std::unordered_map<std::uint32_t, std::size_t> place;  // index in `tried` of each combination
  for (const std::uint32_t i : runs) {
    const auto [found, is_new] = place.try_emplace(rule.choices.of(i), of.tried.size());
    if (is_new) of.tried.push_back({rule.choices.of(i), {}, 0, {}});
    of.tried[found->second].runs.push_back(i);
  }
  std::vector<double> values;
  for (Candidate& candidate : of.tried) {
    values.clear();
    for (const std::uint32_t i : candidate.runs) {
      if (rule.spec.tune_seeds > 0 && rule.facts.seed_of(i) >= rule.spec.tune_seeds) continue;
      const double number = (*rule.value.numbers)[i];
      if (!rule.facts.failed[i] && !std::isnan(number)) values.push_back(number * rule.value.word.factor);
      else if (rule.spec.tune_seeds == 0) ++candidate.lost;
    }
    if (rule.spec.tune_seeds > 0) candidate.lost = rule.spec.tune_seeds - static_cast<int>(values.size());
    candidate.score = rule.value.word.share ? share_interval(values, rule.value.word.factor) : mean_interval(values);
  }
  for (std::size_t c = 1; c < of.tried.size(); ++c)
    if (is_better(of.tried[c], of.tried[of.best], rule.value)) of.best = c;
  for (const Dimension* axis : rule.axes) of.ranges.push_back(range_of(*axis, of.tried, rule));
  return of;
}

std::vector<ChosenValue> chosen_values(const Candidates& of, std::size_t at, const ChoiceRule& rule) {
  std::vector<ChosenValue> chosen;
  for (std::size_t i = 0; i < rule.axes.size(); ++i) {
    const std::string& value = value_of(*rule.axes[i], of.tried[at], rule);
    const Candidates::Range& range = of.ranges[i];
    const auto number = number_of(value);
    chosen.push_back({rule.axes[i]->name, value, range.has_edges && (number == range.least || number == range.largest)});
  }
  return chosen;
}

bool is_too_coarse(const Candidates& of, std::size_t axis, const ChoiceRule& rule, double half_width) {
  if (!is_learning_rate(rule.axes[axis]->name)) return false;
  const Candidate& best = of.tried[of.best];
  const auto middle = number_of(value_of(*rule.axes[axis], best, rule));
  if (!middle || *middle <= 0) return false;
  const Candidate *below = nullptr, *above = nullptr;  // the nearest learning rate on each side
  double nearest_below = 0, nearest_above = 0;
  for (const Candidate& candidate : of.tried) {
    bool same = true;
    for (std::size_t i = 0; i < rule.axes.size(); ++i)
      same = same && (i == axis || value_of(*rule.axes[i], candidate, rule) == value_of(*rule.axes[i], best, rule));
    const auto number = number_of(value_of(*rule.axes[axis], candidate, rule));
    if (!same || !number) continue;
    if (*number < *middle && (!below || *number > nearest_below)) below = &candidate, nearest_below = *number;
    if (*number > *middle && (!above || *number < nearest_above)) above = &candidate, nearest_above = *number;
  }
  if (!below || !above || *middle <= coarse_factor * nearest_below || nearest_above <= coarse_factor * *middle) return false;
  const auto loses = [&](const Candidate& other) { return other.lost > best.lost || std::abs(other.score.mean - best.score.mean) > half_width; };
  return loses(*below) && loses(*above);
}

}  // namespace odrpo
