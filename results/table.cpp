// From a result file to the model of a table: its dimensions and values, and which runs each cell is made of.
#include "results/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "kernels/failure.hpp"
#include "results/suggest.hpp"
#include "results/table_cells.hpp"
#include "results/table_words.hpp"

namespace odrpo {
namespace {

constexpr const char* plain_dimensions[] = {"env", "rater", "policy", "estimator", "votes"};

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

std::string axis_text(const AxisValue& value) {
  return std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
}

/// The value of a dimension in one run; "-" where the run has no such axis.
std::string value_of(const RunRecord& run, const std::string& dimension) {
  if (dimension == "env") return run.env;
  if (dimension == "rater") return run.rater;
  if (dimension == "policy") return run.policy;
  if (dimension == "estimator") return run.estimator;
  if (dimension == "votes") return std::to_string(run.votes);
  for (const auto& [name, value] : run.axes)
    if (name == dimension) return axis_text(value);
  return "-";
}

std::vector<std::string> dimensions_of(const ResultFile& file) {
  std::vector<std::string> names(std::begin(plain_dimensions), std::end(plain_dimensions));
  for (const RunRecord& run : file.runs)
    for (const auto& axis : run.axes)
      if (std::find(names.begin(), names.end(), axis.first) == names.end()) names.push_back(axis.first);
  return names;
}

/// The file's own name of a dimension: the word itself, or the one axis that ends in ".word"; `value` is the dimension of the values.
std::string dimension_named(const std::vector<std::string>& names, const std::string& word, const char* what) {
  std::vector<std::string> found;
  if (word == values_dimension && what != std::string_view("best")) {
    if (std::find(names.begin(), names.end(), word) == names.end()) return word;
    throw Failure(Exit::usage,
                  fmt::format("{}: the results have an axis \"{}\", so that it cannot mean the values of a table", what, word));
  }
  for (const std::string& name : names) {
    if (name == word) return name;
    if (name.ends_with("." + word)) found.push_back(name);
  }
  if (found.size() == 1) return found[0];
  throw Failure(Exit::usage, fmt::format("{}: the results have no dimension \"{}\" (they have {}){}", what, printable_text(word),
                                         joined(names), did_you_mean(word, names)));
}

std::vector<std::string> values_in_order(const ResultFile& file, const std::string& dimension) {
  std::vector<std::string> values;
  std::set<std::string> seen;
  for (const RunRecord& run : file.runs)
    if (const std::string value = value_of(run, dimension); seen.insert(value).second) values.push_back(value);
  return values;
}

/// Calls visit(name, text) for every line `name<TAB>text` of a text of the file's provenance.
template <class Visit>
void each_line(const ResultFile& file, const char* of, Visit visit) {
  const std::string* lines = file.provenance_text(of);
  for (std::size_t from = 0; lines != nullptr && from < lines->size();) {
    const std::size_t end = std::min(lines->find('\n', from), lines->size());
    const std::string line = lines->substr(from, end - from);
    if (const auto tab = line.find('\t'); tab != std::string::npos)
      visit(printable_text(line.substr(0, tab)), printable_text(line.substr(tab + 1)));
    from = end + 1;
  }
}

void add_notes(TableModel& table, const ResultFile& file) {
  std::vector<int> undefined(table.values.size()), no_percent(table.values.size());
  for (const TableBlock& block : table.blocks)
    for (const TableCell& cell : block.cells) {
      undefined[cell.of] += cell.undefined;
      no_percent[cell.of] += cell.no_percent;
    }
  std::vector<std::string> failed;
  for (const RunRecord& run : file.runs)
    if (run.status == RunStatus::failed) failed.push_back(run.id);
  if (!failed.empty()) {
    const std::size_t named = std::min<std::size_t>(failed.size(), 3);
    table.notes.push_back(fmt::format("{} of {} runs failed and are left out: {}{}", failed.size(), file.runs.size(),
                                      fmt::join(failed.begin(), failed.begin() + static_cast<std::ptrdiff_t>(named), ", "),
                                      failed.size() > named ? ", ..." : ""));
  }
  for (std::size_t v = 0; v < table.values.size(); ++v) {
    const std::string of = table.values.size() > 1 ? " of " + table.values[v].name : "";
    if (undefined[v] > 0) table.notes.push_back(fmt::format("{} undefined values{} are left out", undefined[v], of));
    if (no_percent[v] > 0)
      table.notes.push_back(fmt::format("{} pairs{} have no percentage (the baseline is not above 0) and are left out", no_percent[v], of));
  }
  each_line(file, "formulas", [&](const std::string& name, const std::string& text) {
    const auto equals = text.find('=');
    if (!name.empty()) table.formulas.emplace_back(name, text);
    else if (equals != std::string::npos)  // of no estimator: a setting of all
      table.settings.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  });
  each_line(file, "raters", [&](const std::string& name, const std::string& text) {
    if (!name.empty()) table.raters.emplace_back(name, text);
  });
}

/// The words of a spec as the file has them. Failure usage for those that it has not, or that do not go together.
void settle_spec(TableSpec& spec, const ResultFile& file, const std::vector<std::string>& names) {
  spec.rows = dimension_named(names, spec.rows, "rows");
  spec.columns = dimension_named(names, spec.columns, "columns");
  for (std::string& axis : spec.best) axis = dimension_named(names, axis, "best");
  std::set<std::string> used{spec.rows, spec.columns}, shown;
  if (used.size() < 2) throw Failure(Exit::usage, fmt::format("rows and columns are both \"{}\"", spec.rows));
  for (const std::string& axis : spec.best)
    if (!used.insert(axis).second) throw Failure(Exit::usage, fmt::format("best: \"{}\" is already rows, columns or best", axis));
  if (!spec.best.empty() && spec.tune_seeds > 0 &&
      std::none_of(file.runs.begin(), file.runs.end(), [&](const RunRecord& r) { return r.seed >= spec.tune_seeds; }))
    throw Failure(Exit::usage, fmt::format("tune_seeds: {} seeds to choose on leave none to report", spec.tune_seeds));
  if (spec.value.empty()) throw Failure(Exit::usage, "value: no value is named");
  for (const std::string& name : spec.value)
    if (!shown.insert(name).second) throw Failure(Exit::usage, fmt::format("value: \"{}\" is named twice", printable_text(name)));
  if (spec.value.size() > 1 && !spec.over_values())
    throw Failure(Exit::usage, fmt::format("value: several values ({}) need rows or columns \"{}\"", printable_text(joined(spec.value)),
                                           values_dimension));
  if (!spec.baseline.empty() && spec.rows == values_dimension)
    throw Failure(Exit::usage, "baseline: the rows are values, which are not compared with each other; make them the columns");
}

/// The row that a baseline means: the word itself, or of numbers the same one (1e6 is 1000000).
std::string row_named(const std::vector<std::string>& rows, const std::string& baseline) {
  if (std::find(rows.begin(), rows.end(), baseline) != rows.end()) return baseline;
  if (const auto wanted = number_of(baseline))
    for (const std::string& row : rows)
      if (number_of(row) == wanted) return row;
  return baseline;
}

TableValue described(const std::string& name, const ValueWord& word, Compare compare) {
  return {name, word.unit, word.meaning, name == "seconds", word.share, compare == Compare::percent && !word.share};
}

/// What a run or a cell is at in a dimension. The runs of all values are the same.
using Spot = std::pair<std::string, std::string>;
std::string spot_in(const std::string& dimension, const std::string& entry) { return dimension == values_dimension ? "" : entry; }

void add_cells(TableBlock& block, const TableModel& table, const ResultFile& file, const std::map<Spot, Pool>& pools,
               const std::vector<Shown>& shown) {
  const TableSpec& spec = table.spec;
  const std::size_t width = table.columns.size();
  for (std::size_t i = 0; i < table.rows.size() * width; ++i) {
    const std::size_t row = i / width, column = i % width;
    TableCell cell = empty_cell();
    cell.row = table.rows[row];
    cell.column = table.columns[column];
    cell.of = spec.rows == values_dimension ? row : spec.columns == values_dimension ? column : 0;
    if (const auto pool = pools.find({spot_in(spec.rows, cell.row), spot_in(spec.columns, cell.column)}); pool != pools.end()) {
      const Choice& best = best_choice(pool->second, file, spec, shown[0]);
      fill_cell(cell, pool->second.runs.at(best), file, spec, shown[cell.of], table.values[cell.of]);
      for (std::size_t b = 0; b < best.size(); ++b) {
        cell.chosen.emplace_back(spec.best[b], best[b]);
        cell.at_edge.push_back(at_edge(pool->second, best, b));
      }
    }
    block.cells.push_back(std::move(cell));
  }
  const auto base = static_cast<std::size_t>(std::find(table.rows.begin(), table.rows.end(), spec.baseline) - table.rows.begin());
  for (std::size_t i = 0; i < block.cells.size() && base < table.rows.size(); ++i)
    if (TableCell& cell = block.cells[i]; i / width != base)
      compare_cell(cell, block.cells[base * width + i % width], shown[cell.of], table.values[cell.of]);
}

}  // namespace

TableModel make_table(const ResultFile& file, const TableSpec& wanted) {
  TableModel table;
  table.spec = wanted;
  TableSpec& spec = table.spec;
  const auto names = dimensions_of(file);
  std::vector<Shown> shown;
  for (std::string& name : spec.value) {
    shown.push_back(shown_value(file, name));
    name = shown.back().name;
    table.values.push_back(described(name, shown.back().word, spec.compare));
  }
  settle_spec(spec, file, names);
  const auto entries = [&](const std::string& dimension) {
    return dimension == values_dimension ? spec.value : values_in_order(file, dimension);
  };
  table.suite = printable_text(file.suite);
  table.rows = entries(spec.rows);
  table.columns = entries(spec.columns);
  spec.baseline = row_named(table.rows, spec.baseline);
  if (!spec.baseline.empty() && std::find(table.rows.begin(), table.rows.end(), spec.baseline) == table.rows.end())
    throw Failure(Exit::usage, fmt::format("baseline: \"{}\" is not among the rows ({}){}", printable_text(spec.baseline),
                                           joined(table.rows), did_you_mean(spec.baseline, table.rows)));

  // one block per combination of the other dimensions, in file order
  std::set<std::string> used{spec.rows, spec.columns};
  used.insert(spec.best.begin(), spec.best.end());
  std::vector<std::string> others;
  for (const std::string& name : names)
    if (!used.count(name)) {
      others.push_back(name);
      if (values_in_order(file, name).size() > 1) table.split.push_back(name);
    }
  std::vector<Choice> order;
  std::map<Choice, std::map<Spot, Pool>> pools;
  for (std::size_t i = 0; i < file.runs.size(); ++i) {
    const RunRecord& run = file.runs[i];
    Choice at, choice;
    for (const std::string& name : others) at.push_back(value_of(run, name));
    for (const std::string& name : spec.best) choice.push_back(value_of(run, name));
    if (!pools.count(at)) order.push_back(at);
    Pool& pool = pools[at][{spot_in(spec.rows, value_of(run, spec.rows)), spot_in(spec.columns, value_of(run, spec.columns))}];
    if (!pool.runs.count(choice)) pool.order.push_back(choice);
    pool.runs[choice].push_back(i);
  }
  if (static_cast<double>(table.rows.size()) * static_cast<double>(table.columns.size()) * static_cast<double>(order.size()) > 1e6)
    throw Failure(Exit::usage, fmt::format("a table of {} x {} cells in {} blocks is too large; choose other rows and columns",
                                           table.rows.size(), table.columns.size(), order.size()));
  for (const Choice& at : order) {
    TableBlock& block = table.blocks.emplace_back();
    for (std::size_t i = 0; i < others.size(); ++i) block.fixed.emplace_back(others[i], at[i]);
    add_cells(block, table, file, pools[at], shown);
  }
  add_notes(table, file);
  return table;
}

TableModel make_suite_table(const ResultFile& file, const TableSpec& spec) {
  try {
    return make_table(file, spec);
  } catch (const Failure&) {
    if (spec.baseline.empty()) throw;
  }
  TableSpec alone = spec;
  alone.baseline.clear();
  TableModel table = make_table(file, alone);
  table.notes.push_back(fmt::format("no run of the baseline \"{}\" is here: nothing is compared with it", printable_text(spec.baseline)));
  return table;
}

}  // namespace odrpo
