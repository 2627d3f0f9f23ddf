// From a result file to the model of a table: dimensions, choice of the best axis value, intervals, paired differences.
#include "results/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "kernels/failure.hpp"

namespace odrpo {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr const char* plain_dimensions[] = {"env", "rater", "policy", "estimator", "votes"};

std::string trimmed(std::string_view text) {
  const auto from = text.find_first_not_of(" \t\r\"");
  if (from == std::string_view::npos) return "";
  return std::string(text.substr(from, text.find_last_not_of(" \t\r\"") - from + 1));
}

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

/// Text from a file, made safe for a terminal.
std::string printable(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return text;
}

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

/// The file's own name of a dimension: the word itself, or the one axis that ends in ".word".
std::string dimension_named(const std::vector<std::string>& names, const std::string& word, const char* what) {
  std::vector<std::string> found;
  for (const std::string& name : names) {
    if (name == word) return name;
    if (name.ends_with("." + word)) found.push_back(name);
  }
  if (found.size() == 1) return found[0];
  throw Failure(Exit::usage, fmt::format("{}: the results have no dimension \"{}\"; they have {}", what, printable(word), joined(names)));
}

std::vector<std::string> values_in_order(const ResultFile& file, const std::string& dimension) {
  std::vector<std::string> values;
  std::set<std::string> seen;
  for (const RunRecord& run : file.runs)
    if (const std::string value = value_of(run, dimension); seen.insert(value).second) values.push_back(value);
  return values;
}

/// A value by its word, or any other final column as it is.
struct Shown {
  ValueWord word;
  std::string column;
};
Shown shown_value(const ResultFile& file, const std::string& name) {
  Shown shown{{"", "", 1, "", true, ""}, name};
  for (const ValueWord& v : value_words)
    if (name == v.word) shown = {v, v.column};
  const Column* column = file.column(shown.column);
  std::vector<std::string> known;
  for (const ValueWord& v : value_words)
    if (file.column(v.column)) known.push_back(v.word);
  if (!file.runs.empty())
    for (const RunRecord& run : file.runs) {
      if (run.status != RunStatus::ok) continue;
      for (const Final& f : run.finals) known.push_back(f.name);
      break;
    }
  if (!column || !column->numeric || column->number.size() != file.runs.size())
    throw Failure(Exit::usage, fmt::format("value: the results have no value \"{}\"; they have {}", printable(name), joined(known)));
  return shown;
}

/// All runs of one cell and one choice of the best axes.
struct Candidate {
  std::vector<std::pair<int, double>> values;  ///< (seed, value), defined ones
  std::vector<std::pair<int, bool>> lost;      ///< (seed, failed?) of the others
};
using Choice = std::vector<std::string>;  ///< values of the best axes
struct Pool {
  std::vector<Choice> order;  ///< candidates in file order
  std::map<Choice, Candidate> candidates;
};

/// Mean over the seeds that choose; and how many of them were lost. A candidate that lost fewer wins, then the better mean.
bool better(const Candidate& a, const Candidate& b, int tune_seeds, bool more_is_better) {
  const auto lost = [&](const Candidate& c) {
    return std::count_if(c.lost.begin(), c.lost.end(), [&](const auto& l) { return tune_seeds == 0 || l.first < tune_seeds; });
  };
  const auto mean = [&](const Candidate& c) {
    std::vector<double> v;
    for (const auto& [seed, value] : c.values)
      if (tune_seeds == 0 || seed < tune_seeds) v.push_back(value);
    return mean_interval(v).mean;
  };
  const double ma = mean(a), mb = mean(b);
  if (std::isnan(ma) || std::isnan(mb)) return !std::isnan(ma);
  if (lost(a) != lost(b)) return lost(a) < lost(b);
  return more_is_better ? ma > mb : ma < mb;
}

TableCell make_cell(const Pool& pool, const TableSpec& spec, const ValueWord& word, bool median) {
  TableCell cell;
  cell.centre = cell.sd = cell.lo = cell.hi = nan;
  cell.difference = {0, nan, nan, nan, nan};
  if (pool.order.empty()) return cell;
  Choice best = pool.order[0];
  for (const Choice& choice : pool.order)
    if (better(pool.candidates.at(choice), pool.candidates.at(best), spec.tune_seeds, word.more_is_better)) best = choice;
  const Candidate& taken = pool.candidates.at(best);
  const bool held_out = !spec.best.empty() && spec.tune_seeds > 0;
  for (std::size_t i = 0; i < best.size(); ++i) cell.chosen.emplace_back(spec.best[i], best[i]);
  std::vector<double> values;
  for (const auto& [seed, value] : taken.values)
    if (!held_out || seed >= spec.tune_seeds) cell.values.emplace_back(seed, value);
  std::stable_sort(cell.values.begin(), cell.values.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& v : cell.values) values.push_back(v.second);
  for (const auto& [seed, failed] : taken.lost)
    if (!held_out || seed >= spec.tune_seeds) (failed ? cell.failed : cell.undefined) += 1;
  cell.n = static_cast<int>(values.size());
  if (median) {
    const Quartiles q = quartiles(values);
    cell.centre = q.median;
    cell.lo = q.q1;
    cell.hi = q.q3;
  } else {
    const MeanInterval m = word.share ? share_interval(values, word.factor) : mean_interval(values);
    cell.centre = m.mean;
    cell.sd = m.sd;
    cell.lo = m.lo;
    cell.hi = m.hi;
  }
  return cell;
}

/// This cell minus the baseline's, over the seeds that both report.
MeanInterval difference(const TableCell& cell, const TableCell& baseline, const ValueWord& word) {
  std::vector<double> a, b;
  for (const auto& [seed, value] : cell.values)
    for (const auto& [other, base] : baseline.values)
      if (seed == other) {
        a.push_back(value);
        b.push_back(base);
        break;
      }
  return word.share ? share_difference(a, b, word.factor) : paired_difference(a, b);
}

void add_notes(TableModel& table, const ResultFile& file) {
  int undefined = 0;
  for (const TableBlock& block : table.blocks)
    for (const TableCell& cell : block.cells) undefined += cell.undefined;
  std::vector<std::string> failed;
  for (const RunRecord& run : file.runs)
    if (run.status == RunStatus::failed) failed.push_back(run.id);
  if (!failed.empty()) {
    const std::size_t named = std::min<std::size_t>(failed.size(), 3);
    table.notes.push_back(fmt::format("{} of {} runs failed and are left out: {}{}", failed.size(), file.runs.size(),
                                      fmt::join(failed.begin(), failed.begin() + static_cast<std::ptrdiff_t>(named), ", "),
                                      failed.size() > named ? ", ..." : ""));
  }
  if (undefined > 0) table.notes.push_back(fmt::format("{} undefined values are left out", undefined));
  if (const std::string* text = file.provenance_text("formulas")) {
    for (std::size_t from = 0; from < text->size();) {
      const std::size_t end = std::min(text->find('\n', from), text->size());
      const std::string line = text->substr(from, end - from);
      const auto tab = line.find('\t'), equals = line.find('=');
      if (tab != 0 && tab != std::string::npos)
        table.formulas.emplace_back(printable(line.substr(0, tab)), printable(line.substr(tab + 1)));
      else if (tab == 0 && equals != std::string::npos)  // of no estimator: a setting of all
        table.settings.emplace_back(printable(line.substr(1, equals - 1)), printable(line.substr(equals + 1)));
      from = end + 1;
    }
  }
}

}  // namespace

TableSpec parse_table_spec(std::string_view lines) {
  TableSpec spec;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string key = trimmed(line.substr(0, equals)), value = trimmed(line.substr(equals + 1));
    if (key == "rows" && !value.empty()) spec.rows = value;
    if (key == "columns" && !value.empty()) spec.columns = value;
    if (key == "value" && !value.empty()) spec.value = value;
    if (key == "baseline") spec.baseline = value;
    if (key == "tune_seeds") std::from_chars(value.data(), value.data() + value.size(), spec.tune_seeds);
    if (key == "best") {
      for (std::size_t from = 0; from <= value.size();) {
        const std::size_t comma = std::min(value.find(',', from), value.size());
        if (std::string word = trimmed(std::string_view(value).substr(from, comma - from)); !word.empty()) spec.best.push_back(word);
        from = comma + 1;
      }
    }
  }
  return spec;
}

TableModel make_table(const ResultFile& file, const TableSpec& wanted) {
  TableModel table;
  table.spec = wanted;
  TableSpec& spec = table.spec;
  const auto names = dimensions_of(file);
  spec.rows = dimension_named(names, spec.rows, "rows");
  spec.columns = dimension_named(names, spec.columns, "columns");
  for (std::string& axis : spec.best) axis = dimension_named(names, axis, "best");
  std::set<std::string> used{spec.rows, spec.columns};
  if (used.size() < 2) throw Failure(Exit::usage, fmt::format("rows and columns are both \"{}\"", spec.rows));
  for (const std::string& axis : spec.best)
    if (!used.insert(axis).second) throw Failure(Exit::usage, fmt::format("best: \"{}\" is already rows, columns or best", axis));
  if (!spec.best.empty() && spec.tune_seeds > 0 &&
      std::none_of(file.runs.begin(), file.runs.end(), [&](const RunRecord& r) { return r.seed >= spec.tune_seeds; }))
    throw Failure(Exit::usage, fmt::format("tune_seeds: {} seeds to choose on leave none to report", spec.tune_seeds));
  const Shown shown = shown_value(file, spec.value);
  table.suite = printable(file.suite);
  table.meaning = shown.word.meaning;
  table.unit = shown.word.unit;
  table.median = spec.value == "seconds";
  table.share = shown.word.share;
  table.rows = values_in_order(file, spec.rows);
  table.columns = values_in_order(file, spec.columns);
  if (!spec.baseline.empty() && std::find(table.rows.begin(), table.rows.end(), spec.baseline) == table.rows.end())
    throw Failure(Exit::usage, fmt::format("baseline: \"{}\" is not among the rows: {}", printable(spec.baseline), joined(table.rows)));

  // one block per combination of the other dimensions, in file order
  std::vector<std::string> others;
  for (const std::string& name : names)
    if (!used.count(name)) {
      others.push_back(name);
      if (values_in_order(file, name).size() > 1) table.split.push_back(name);
    }
  std::vector<Choice> order;
  std::map<Choice, std::map<std::pair<std::string, std::string>, Pool>> pools;
  const std::vector<double>& numbers = file.column(shown.column)->number;
  for (std::size_t i = 0; i < file.runs.size(); ++i) {
    const RunRecord& run = file.runs[i];
    Choice at, choice;
    for (const std::string& name : others) at.push_back(value_of(run, name));
    for (const std::string& name : spec.best) choice.push_back(value_of(run, name));
    if (!pools.count(at)) order.push_back(at);
    Pool& pool = pools[at][{value_of(run, spec.rows), value_of(run, spec.columns)}];
    if (!pool.candidates.count(choice)) pool.order.push_back(choice);
    Candidate& candidate = pool.candidates[choice];
    const bool failed = run.status == RunStatus::failed;
    if (failed || std::isnan(numbers[i])) candidate.lost.emplace_back(run.seed, failed);
    else candidate.values.emplace_back(run.seed, numbers[i] * shown.word.factor);
  }
  if (static_cast<double>(table.rows.size()) * static_cast<double>(table.columns.size()) * static_cast<double>(order.size()) > 1e6)
    throw Failure(Exit::usage, fmt::format("a table of {} x {} cells in {} blocks is too large; choose other rows and columns",
                                           table.rows.size(), table.columns.size(), order.size()));
  for (const Choice& at : order) {
    TableBlock block;
    for (std::size_t i = 0; i < others.size(); ++i) block.fixed.emplace_back(others[i], at[i]);
    std::map<std::pair<std::string, std::string>, Pool>& here = pools[at];
    for (const std::string& row : table.rows)
      for (const std::string& column : table.columns) {
        block.cells.push_back(make_cell(here[{row, column}], spec, shown.word, table.median));
        block.cells.back().row = row;
        block.cells.back().column = column;
      }
    const auto base = static_cast<std::size_t>(std::find(table.rows.begin(), table.rows.end(), spec.baseline) - table.rows.begin());
    if (base < table.rows.size())
      for (std::size_t i = 0; i < block.cells.size(); ++i)
        if (i / table.columns.size() != base)
          block.cells[i].difference =
              difference(block.cells[i], block.cells[base * table.columns.size() + i % table.columns.size()], shown.word);
    table.blocks.push_back(std::move(block));
  }
  add_notes(table, file);
  return table;
}

}  // namespace odrpo
