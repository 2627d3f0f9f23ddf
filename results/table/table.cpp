// Makes the model of a table from a result file: its rows, columns, values and blocks, and the runs of each cell.
#include "results/table/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/text.hpp"
#include "results/table/cells.hpp"
#include "results/table/dimensions.hpp"
#include "results/table/table_spec.hpp"

namespace odrpo {
namespace {


constexpr int most_lines = 10'000;                             // upper limit on lines of formulas or raters; no suite has so many
constexpr std::size_t most_line_bytes = std::size_t{4} << 20;  // lines that begin after this many bytes are left out

/// Calls visit(name, text) for every line `name<TAB>text` of the provenance text `of`.
template <class Visit>
void each_line(const ResultFile& file, const char* of, Visit visit) {
  const std::string* lines = file.provenance_text(of);
  std::size_t from = 0;
  for (int n = 0; lines != nullptr && from < lines->size() && from < most_line_bytes && n < most_lines; ++n) {
    const std::size_t end = std::min(lines->find('\n', from), lines->size());
    const std::string line = lines->substr(from, end - from);
    if (const auto tab = line.find('\t'); tab != std::string::npos)
      visit(printable_text(line.substr(0, tab)), printable_text(line.substr(tab + 1)));
    from = end + 1;
  }
}

/// Adds notes: on cells that could not choose a setting, on learning rates that are too far apart, on rows that chose among more settings
/// than others.
void add_choice_notes(TableModel& table) {
  const TableSpec& spec = table.spec;
  const std::string axes = joined(spec.best);
  int without = 0;
  std::vector<int> most(table.rows.size());
  const std::size_t width = table.columns.size();
  for (const TableBlock& block : table.blocks)
    for (std::size_t i = 0; i < block.cells.size(); ++i) {
      const TableCell& cell = block.cells[i];
      without += cell.of == 0 && cell.tried > 0 && cell.chosen.empty();
      most[i / width] = std::max(most[i / width], cell.tried);
    }
  if (without > 0)
    table.notes.push_back(fmt::format("{} {} no value on seeds 0 to {}, and so no choice of {}", without, without == 1 ? "cell has" : "cells have",
                                      spec.tune_seeds - 1, axes));
  std::string coarse;
  int coarse_cells = 0;
  for (const TableBlock& block : table.blocks)
    for (const TableCell& cell : block.cells)
      for (const ChosenValue& chosen : cell.chosen)
        if (chosen.too_coarse && cell.of == 0 && ++coarse_cells <= 3)
          add_item(coarse, cell.row + " @" + chosen.value);
  if (coarse_cells > 0)
    table.notes.push_back(fmt::format("{} {} the best lr between two that lie more than a factor of {:g} away and lose more than the cell's interval: "
                                      "a finer grid may find a better one, and another order of rows ({}{})",
                                      coarse_cells, coarse_cells == 1 ? "cell has" : "cells have", coarse_factor, coarse, coarse_cells > 3 ? ", ..." : ""));
  std::string tried;
  bool equal = true;
  int first = 0;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    if (most[r] == 0) continue;
    if (first == 0) first = most[r];
    equal = equal && most[r] == first;
    add_item(tried, fmt::format("{} {}", table.rows[r], most[r]));
  }
  if (equal) return;
  table.notes.push_back(fmt::format("rows chose among different numbers of {}: {}; who tries more reports a better one by chance", axes, tried));
}

void add_notes(TableModel& table, const ResultFile& file) {
  std::vector<int> undefined(table.values.size()), no_percent(table.values.size());
  for (const TableBlock& block : table.blocks)
    for (const TableCell& cell : block.cells) {
      undefined[cell.of] += cell.undefined;
      no_percent[cell.of] += cell.comparison.no_percent;
    }
  if (file.failed > 0) {
    const auto named = std::span(file.failed_ids).first(std::min<std::size_t>(file.failed_ids.size(), 3));
    table.notes.push_back(fmt::format("{} of {} runs failed and are left out{}{}{}", file.failed, file.runs, named.empty() ? "" : ": ",
                                      printable_text(joined(named)),
                                      !named.empty() && file.failed > named.size() ? ", ..." : ""));
  }
  for (std::size_t v = 0; v < table.values.size(); ++v) {
    const std::string of = table.values.size() > 1 ? " of " + table.values[v].name : "";
    if (undefined[v] > 0) table.notes.push_back(fmt::format("{} undefined values{} are left out", undefined[v], of));
    if (no_percent[v] > 0)
      table.notes.push_back(fmt::format("{} pairs{} have no percentage (the baseline is not above 0) and are left out", no_percent[v], of));
  }
  add_choice_notes(table);
  each_line(file, "formulas", [&](const std::string& name, const std::string& text) {
    const auto equals = text.find('=');
    if (!name.empty()) table.formulas.emplace_back(name, text);
    else if (equals != std::string::npos)  // a setting that applies to all estimators
      table.settings.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  });
  each_line(file, "raters", [&](const std::string& name, const std::string& text) {
    if (!name.empty()) table.raters.emplace_back(name, text);
  });
}

/// Replaces the user's words in a spec by the file's full names. Failure `usage` for words that the file lacks, or that contradict each other.
void settle_spec(TableSpec& spec, const RunFacts& facts, const std::vector<std::string>& names) {
  spec.rows = dimension_named(names, spec.rows, "rows");
  spec.columns = dimension_named(names, spec.columns, "columns");
  for (std::string& axis : spec.best) axis = dimension_named(names, axis, "best");
  std::set<std::string> used{spec.rows, spec.columns}, shown;
  if (used.size() < 2) fail(Exit::usage, "rows and columns are both \"{}\"", spec.rows);
  for (const std::string& axis : spec.best)
    if (!used.insert(axis).second) fail(Exit::usage, "best: \"{}\" is already rows, columns or best", axis);
  if (!spec.best.empty() && spec.tune_seeds > 0 &&
      std::none_of(facts.seed->begin(), facts.seed->end(), [&](double seed) { return seed >= spec.tune_seeds; }))
    fail(Exit::usage, "tune_seeds: {} seeds to choose on leave none to report", spec.tune_seeds);
  if (spec.value.empty()) fail(Exit::usage, "value: no value is named");
  if (!spec.best.empty() && !opponent_of(spec.value[0]).empty())
    fail(Exit::usage, "value: nothing can be chosen by \"{}\", and `best` has {}: {}, or show {} as rows or columns",
         printable_text(spec.value[0]), joined(spec.best), no_choice, joined(spec.best));
  for (const std::string& name : spec.value)
    if (!shown.insert(name).second) fail(Exit::usage, "value: \"{}\" is named twice", name);
  if (spec.value.size() > 1 && !spec.over_values())
    fail(Exit::usage, "value: several values ({}) need rows or columns \"{}\"", joined(spec.value), values_dimension);
  if (spec.compares() && spec.rows == values_dimension)
    fail(Exit::usage, "baseline: the rows are values, which are not compared with each other; make them the columns");
}

/// Replaces the row names in the spec's baselines by the table's own. Failure `usage` if the table lacks a row, or if a row is named twice.
void settle_baselines(TableSpec& spec, const std::vector<std::string>& rows) {
  std::set<std::string> used;
  const auto settle = [&](std::string& row) {
    row = entry_named(rows, printable_text(row));
    if (std::find(rows.begin(), rows.end(), row) == rows.end())
      fail(Exit::usage, "baseline: \"{}\" is not among the rows{}\nThere are: {}", row, did_you_mean(row, rows), joined(rows));
    if (!used.insert(row).second) fail(Exit::usage, "baseline: \"{}\" is named twice: a row has one baseline", row);
  };
  if (!spec.baseline.empty()) settle(spec.baseline);
  for (BaselineGroup& group : spec.groups) {
    settle(group.baseline);
    for (std::string& row : group.rows) settle(row);
  }
}

/// Puts the rows of each baseline group together, its baseline first. Rows of no group come last.
void order_by_group(TableModel& table) {
  if (table.spec.groups.empty()) return;
  std::map<std::string_view, std::size_t> place;
  for (std::size_t r = 0; r < table.rows.size(); ++r) place[table.rows[r]] = r;
  std::vector<std::size_t> order;
  std::vector<bool> taken(table.rows.size());
  const auto take = [&](std::size_t row) {
    if (!taken[row]) order.push_back(row);
    taken[row] = true;
  };
  for (const BaselineGroup& group : table.spec.groups) {
    take(place.at(group.baseline));
    for (const std::string& row : group.rows) take(place.at(row));
  }
  for (std::size_t r = 0; r < table.rows.size(); ++r) take(r);
  const std::size_t width = table.columns.size();
  for (TableBlock& block : table.blocks) {
    std::vector<TableCell> cells;
    cells.reserve(block.cells.size());
    for (const std::size_t row : order)
      for (std::size_t c = 0; c < width; ++c) cells.push_back(std::move(block.cells[row * width + c]));
    block.cells = std::move(cells);
  }
  std::vector<std::string> rows;
  for (const std::size_t row : order) rows.push_back(table.rows[row]);
  table.rows = std::move(rows);
}

constexpr std::size_t most_pairs = 8;  // combinations of values named in one sentence

/// If rows, columns and TableSpec::best determine a dimension that every run has, returns it with the fewest that suffice.
std::optional<FollowingDimension> following_dimension(const Dimension& dimension, const TableSource& from, const TableSpec& spec,
                                                      std::size_t runs) {
  const auto& entries = dimension.entries;  // an axis that some runs lack makes blocks, since those runs are of other variants
  if (entries.size() < 2 || std::find(entries.begin(), entries.end(), absent_entry) != entries.end()) return std::nullopt;
  std::vector<const Dimension*> all;
  for (const std::string& name : {spec.rows, spec.columns})
    if (const Dimension* other = from.dimension(name)) all.push_back(other);
  std::vector<std::vector<const Dimension*>> choices{all};  // sets of dimensions that may determine it, the smallest first
  if (all.size() == 1) choices.clear();
  all.insert(all.end(), from.best.begin(), from.best.end());
  for (auto other = all.rbegin(); other != all.rend(); ++other) choices.insert(choices.begin(), {*other});
  choices.push_back(all);
  for (const auto& others : choices) {
    if (!follows(dimension, others, runs)) continue;
    FollowingDimension found{dimension.name, {}, {}};
    for (const Dimension* other : others) found.others.push_back(other->name);
    const Combinations combinations = combinations_of(others, runs);
    for (std::size_t c = 0; c < std::min(combinations.first.size(), most_pairs); ++c) {
      std::vector<std::string> at;
      for (const Dimension* other : others) at.push_back(other->entries[other->code[combinations.first[c]]]);
      found.text += fmt::format("{}{}: {}",
                                c == 0              ? ""
                                : others.size() > 1 ? "; "
                                                    : ", ",
                                joined(at), dimension.entries[dimension.code[combinations.first[c]]]);
    }
    if (combinations.first.size() > most_pairs) found.text += others.size() > 1 ? "; ..." : ", ...";
    found.text = fmt::format("{} follows {}: {}", dimension.name, joined(found.others), found.text);
    return found;
  }
  return std::nullopt;
}

TableValue described(const std::string& name, const ValueWord& word, Compare compare) {
  return {name, word.unit, word.meaning, word.median, word.share, compare == Compare::percent && !word.share, word.more_is_better, true};
}

}  // namespace

std::vector<std::string> table_columns(const ResultFile& head, const TableSpec& spec) {
  std::vector<std::string> columns;
  for (const std::string& name : spec.value)
    if (const std::string column = shown_value(head, name).column; std::find(columns.begin(), columns.end(), column) == columns.end())
      columns.push_back(column);
  return columns;
}

TableModel make_table(const ResultFile& file, const TableSpec& wanted) {
  TableModel table;
  table.spec = wanted;
  TableSpec& spec = table.spec;
  TableSource from;
  for (std::string& name : spec.value) {
    Shown& shown = from.shown.emplace_back(shown_value(file, name));
    shown.numbers = &read_column(file, shown.column, true).number;
    name = shown.name;
    table.values.push_back(described(name, shown.word, spec.compare));
    table.values.back().ranked = shown.ranked;
  }
  from.dimensions = dimensions_of(file);
  from.facts = run_facts(file);
  std::vector<std::string> names;
  for (const Dimension& dimension : from.dimensions) names.push_back(dimension.name);
  settle_spec(spec, from.facts, names);
  const auto entries = [&](const std::string& name) {
    const Dimension* dimension = from.dimension(name);
    return dimension ? dimension->entries : spec.value;
  };
  table.suite = printable_text(file.suite);
  table.digest = printable_text(file.digest.substr(0, 12));
  table.rows = entries(spec.rows);
  table.columns = entries(spec.columns);
  settle_baselines(spec, table.rows);
  for (auto& [name, text] : spec.labels) name = printable_text(name), text = printable_text(text);

  for (const std::string& name : spec.best) from.best.push_back(from.dimension(name));
  for (const Dimension& dimension : from.dimensions) {
    const bool used = dimension.name == spec.rows || dimension.name == spec.columns;
    if (used || std::find(spec.best.begin(), spec.best.end(), dimension.name) != spec.best.end()) continue;
    if (auto following = following_dimension(dimension, from, spec, file.runs)) {
      from.following.push_back(&dimension);
      table.following.push_back(std::move(*following));
      continue;
    }
    from.others.push_back(&dimension);
    if (dimension.entries.size() > 1) table.split.push_back(dimension.name);
  }
  from.blocks = combinations_of(from.others, file.runs);
  const std::vector<std::uint32_t>& blocks = from.blocks.first;
  if (static_cast<double>(table.rows.size()) * static_cast<double>(table.columns.size()) * static_cast<double>(blocks.size()) > 2e5)
    fail(Exit::usage, "a table of {} x {} cells in {} blocks is too large; choose other rows and columns", table.rows.size(),
         table.columns.size(), blocks.size());
  from.choices = combinations_of(from.best, file.runs);
  const RunPools pools = pools_of(from, spec, file.runs);
  for (std::size_t b = 0; b < blocks.size(); ++b) {  // in the order of their first run
    TableBlock& block = table.blocks.emplace_back();
    for (const Dimension* other : from.others) block.fixed.emplace_back(other->name, other->entries[other->code[blocks[b]]]);
    block.cells = block_cells(table, from, pools, b);
  }
  order_by_group(table);
  correct_comparisons(table);
  for (const ResultFile::Source& source : file.sources)
    table.notes.push_back(fmt::format("{}: {}, digest {}", printable_text(source.name), runs_text(source.runs), printable_text(source.digest.substr(0, 12))));
  const auto other = std::find_if(file.sources.begin(), file.sources.end(), [&](const auto& source) {
    return source.seed != file.sources[0].seed && !source.seed.empty() && !file.sources[0].seed.empty();
  });
  if (other != file.sources.end())
    table.notes.push_back(fmt::format("suite.seed is {} in {} and {} in {}: their runs share no worlds, so pairing them by seed makes no interval narrower",
                                      printable_text(file.sources[0].seed), printable_text(file.sources[0].name), printable_text(other->seed), printable_text(other->name)));
  add_notes(table, file);
  return table;
}

TableModel with_value(const TableModel& table, const ResultFile& file, const std::string& value) {
  const Shown shown = shown_value(file, value);
  const std::vector<double>& numbers = read_column(file, shown.column, true).number;
  TableModel out = table;
  out.spec.value = {shown.name};
  out.values = {described(shown.name, shown.word, table.spec.compare)};
  out.values[0].ranked = false;  // `best` was chosen for another value
  for (TableBlock& block : out.blocks)
    for (TableCell& cell : block.cells) {
      const auto seeds = std::exchange(cell.values, {});
      const auto runs = std::exchange(cell.runs, {});
      for (std::size_t i = 0; i < runs.size(); ++i)
        if (const double number = numbers[runs[i]]; !std::isnan(number)) {
          cell.values.emplace_back(seeds[i].first, number * shown.word.factor);
          cell.runs.push_back(runs[i]);
        }
      cell.undefined = static_cast<int>(runs.size() - cell.runs.size());
      cell.among_best = false;
      cell.other_choices.clear();
      summarise(cell, shown.word.factor, out.values[0]);
    }
  compare_rows(out, shown.word.factor);
  return out;
}

TableModel make_suite_table(const ResultFile& file, const TableSpec& spec) {
  try {
    return make_table(file, spec);
  } catch (const Failure&) {
    if (!spec.compares()) throw;
  }
  TableSpec alone = spec;
  alone.baseline.clear();
  alone.groups.clear();
  TableModel table = make_table(file, alone);
  const auto is_here = [&](const std::string& row) { return std::find(table.rows.begin(), table.rows.end(), row) != table.rows.end(); };
  TableSpec left = alone;  // the groups, without rows that are missing in the file
  std::string missing = spec.baseline;
  for (BaselineGroup group : spec.groups) {
    if (!is_here(group.baseline)) missing += (missing.empty() ? "" : "\", \"") + group.baseline;
    std::erase_if(group.rows, [&](const std::string& row) { return !is_here(row); });
    if (is_here(group.baseline) && !group.rows.empty()) left.groups.push_back(group);
  }
  if (!left.groups.empty()) table = make_table(file, left);
  if (!missing.empty())
    table.notes.push_back(fmt::format("no run of the baseline \"{}\" is here: nothing is compared with it", printable_text(missing)));
  return table;
}

}  // namespace odrpo
