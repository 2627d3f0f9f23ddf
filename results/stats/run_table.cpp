// Parses the text of a CSV file into its runs, or lists its mistakes.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/csv.hpp"
#include "results/scores/score_file.hpp"
#include "results/stats/run_statistics.hpp"

namespace odrpo {
namespace {

constexpr const char* wanted_header = "the first line must name the columns";

std::string quoted_name(const std::string& name) { return '"' + printable_text(name) + '"'; }

[[noreturn]] void reject(const CsvErrors& errors) { throw Failure(Exit::bad_input, errors.text()); }

std::optional<double> parsed(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return number_from<double>(text);
}

/// Numbers by size and before texts, texts by their bytes.
bool comes_before(const std::string& a, const std::string& b) {
  const auto x = parsed(a), y = parsed(b);
  const bool number_a = x && !std::isnan(*x), number_b = y && !std::isnan(*y);
  if (number_a != number_b) return number_a;
  if (number_a && *x != *y) return *x < *y;
  return a < b;
}

/// Texts and their numbers in order of appearance.
struct Names {
  std::map<std::vector<std::string>, std::uint32_t> index;
  std::vector<std::vector<std::string>> list;
  std::uint32_t number_of(std::vector<std::string> name) {
    const auto [at, is_new] = index.emplace(std::move(name), static_cast<std::uint32_t>(list.size()));
    if (is_new) list.push_back(at->first);
    return at->second;
  }
};

/// Joins and sorts names; `runs` get the new numbers.
std::vector<std::string> sort_names(const Names& names, std::vector<RunTable::Run>& runs, std::uint32_t RunTable::Run::*field) {
  std::vector<std::uint32_t> order(names.list.size()), place(names.list.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    return std::lexicographical_compare(names.list[a].begin(), names.list[a].end(), names.list[b].begin(), names.list[b].end(),
                                        comes_before);
  };
  std::sort(order.begin(), order.end(), before);
  std::vector<std::string> sorted;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    sorted.push_back(joined(names.list[order[i]]));
  }
  for (RunTable::Run& run : runs) run.*field = place[run.*field];
  return sorted;
}

/// Places of the wanted columns in the header.
struct Places {
  std::size_t unit = 0, value = 0, fields = 0;
  std::vector<std::size_t> cell, task;
};

Places find_columns(const std::vector<CsvField>& header, const std::string& file, const RunColumns& columns, CsvErrors& errors) {
  std::vector<std::string> names, shown;
  for (const CsvField& field : header) {
    names.push_back(csv_text(field));
    shown.push_back(printable_text(names.back()));
  }
  std::string missing;
  const auto place = [&](const char* flag, const std::string& name) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) {
      add_item(missing, std::string(flag) + ": " + file + " has no column " + quoted_name(name) + did_you_mean(name, shown), "\n");
    } else if (const auto again = std::find(at + 1, names.end(), name); again != names.end()) {
      const CsvField& field = header[static_cast<std::size_t>(again - names.begin())];
      errors.add(field.line, field.column, "column " + quoted_name(name) + " stands twice");
    }
    return static_cast<std::size_t>(at - names.begin());
  };
  Places places;
  places.fields = header.size();
  places.unit = place("--unit", columns.unit);
  for (const std::string& name : columns.cell) places.cell.push_back(place("--cell", name));
  places.value = place("--value", columns.value);
  for (const std::string& name : columns.task) places.task.push_back(place("--task", name));
  if (!missing.empty()) {
    const std::vector<std::string_view> views(shown.begin(), shown.end());
    throw Failure(Exit::usage, missing + "\nIts columns: " + one_of(views));
  }
  if (errors.any()) reject(errors);
  return places;
}

/// The texts of some columns of a record; an empty one is a mistake.
std::vector<std::string> texts_of(const std::vector<CsvField>& fields, const std::vector<std::size_t>& places,
                                  const std::vector<std::string>& names, CsvErrors& errors) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const CsvField& field = fields[places[i]];
    texts.push_back(csv_text(field));
    if (texts.back().empty()) errors.add(field.line, field.column, "column " + quoted_name(names[i]) + " is empty");
  }
  return texts;
}

/// The value of a run; nothing where it is missing (counted) or a mistake (added).
std::optional<double> value_of(const CsvField& field, const std::string& name, RunTable& table, CsvErrors& errors) {
  const std::string text = csv_text(field);
  if (text.find_first_not_of(" \t") == std::string::npos) {
    ++table.blank;
    return std::nullopt;
  }
  const auto value = parsed(text);
  if (value && std::isfinite(*value)) return value;
  if ((value && std::isnan(*value)) || text == "NA") ++table.not_a_number;
  else
    errors.add(field.line, field.column,
               printable_text(name) + " " + shown_cell(text) +
                   (value ? ": a finite number is wanted; leave the field of a failed run blank" : ": a number is wanted"));
  return std::nullopt;
}

/// Sorts the runs, and reports runs given twice.
void sort_runs(RunTable& table, CsvErrors& errors) {
  const auto place = [](const RunTable::Run& run) { return std::tie(run.cell, run.task, run.unit); };
  std::sort(table.runs.begin(), table.runs.end(),
            [&](const auto& a, const auto& b) { return place(a) != place(b) ? place(a) < place(b) : a.line < b.line; });
  for (std::size_t i = 1, first = 0; i < table.runs.size() && !errors.enough(); ++i) {
    const RunTable::Run& run = table.runs[i];
    if (place(run) != place(table.runs[first])) {
      first = i;
      continue;
    }
    const std::string task = table.tasks[run.task];
    errors.add(run.line, 1,
               "unit " + shown_cell(table.units[run.unit]) + " of cell " + shown_cell(joined(table.cells[run.cell])) +
                   (task.empty() ? "" : " in task " + shown_cell(task)) + " is given twice; first on line " +
                   std::to_string(table.runs[first].line) + (task.empty() ? " (does --cell or --task lack a column?)" : ""));
  }
}

}  // namespace

RunTable parse_runs(std::string_view text, const std::string& file, const RunColumns& columns) {
  CsvErrors errors(file);
  CsvReader reader(text);
  std::vector<CsvField> fields;
  if (text.size() > max_scores_bytes) errors.add(1, 1, "larger than " + std::to_string(max_scores_bytes >> 20) + " MiB");
  else check_csv_format(text, errors);
  if (!errors.any() && !reader.next(fields, errors)) errors.add(1, 1, "nothing in it; wanted a header and one row per run");
  if (!errors.any()) check_csv_header(fields, wanted_header, errors);
  if (errors.any()) reject(errors);
  const long header_line = fields[0].line;
  const Places places = find_columns(fields, file, columns, errors);

  RunTable table;
  Names cells, tasks, units;
  for (std::size_t before = 0; !errors.enough() && reader.next(fields, errors); before = errors.size()) {
    if (errors.size() > before) continue;  // its mistake is already reported
    if (fields.size() != places.fields) {
      const CsvField& at = fields[std::min(places.fields, fields.size() - 1)];
      errors.add(at.line, at.column,
                 std::to_string(fields.size()) + (fields.size() == 1 ? " field" : " fields") + ", but the header has " +
                     std::to_string(places.fields));
      continue;
    }
    const auto cell = texts_of(fields, places.cell, columns.cell, errors), task = texts_of(fields, places.task, columns.task, errors),
               unit = texts_of(fields, {places.unit}, {columns.unit}, errors);
    const auto value = value_of(fields[places.value], columns.value, table, errors);
    if (errors.size() > before) continue;
    const std::uint32_t cell_number = cells.number_of(cell);  // also of a cell whose runs all failed
    if (value)
      table.runs.push_back({cell_number, tasks.number_of(task), units.number_of(unit), *value, static_cast<std::uint32_t>(fields[0].line)});
  }
  table.cells = cells.list;
  table.tasks = sort_names(tasks, table.runs, &RunTable::Run::task);
  table.units = sort_names(units, table.runs, &RunTable::Run::unit);
  if (!errors.enough()) sort_runs(table, errors);
  if (errors.any()) reject(errors);
  if (table.runs.empty()) {
    errors.add(header_line, 1, table.blank + table.not_a_number > 0 ? "no run below the header has a value" : "no runs below the header");
    reject(errors);
  }
  return table;
}

}  // namespace odrpo
