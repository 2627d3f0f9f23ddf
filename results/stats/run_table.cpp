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
#include "results/scores/cell_text.hpp"
#include "results/scores/csv.hpp"
#include "results/scores/decode.hpp"
#include "results/scores/rows.hpp"
#include "results/scores/score_file.hpp"
#include "results/stats/run_statistics.hpp"

namespace odrpo {
namespace {

constexpr const char* wanted_header = "the first line must name the columns";

std::string quoted_name(const std::string& name) { return '"' + printable_text(name) + '"'; }

[[noreturn]] void reject(const CsvErrors& errors) { throw Failure(Exit::bad_input, errors.text()); }

/// True if name a sorts before b: numbers by size and before texts, texts by their bytes.
bool comes_before(const std::string& a, const std::string& b) {
  const CellText x = read_cell(a), y = read_cell(b);
  const bool number_a = x.kind == CellText::Kind::number, number_b = y.kind == CellText::Kind::number;
  if (number_a != number_b) return number_a;
  if (number_a && x.value != y.value) return x.value < y.value;
  return a < b;
}

/// Numbers names (lists of texts) 0, 1, 2, … in the order of their first appearance.
struct Names {
  std::map<std::vector<std::string>, std::uint32_t> index;
  std::vector<std::vector<std::string>> list;
  std::uint32_t number_of(std::vector<std::string> name) {
    const auto [at, is_new] = index.emplace(std::move(name), static_cast<std::uint32_t>(list.size()));
    if (is_new) list.push_back(at->first);
    return at->second;
  }
};

/// Adds a mistake for each column in which two texts spell the same number differently.
void check_spellings(const Names& names, const std::vector<std::string>& columns, long line, CsvErrors& errors) {
  for (std::size_t c = 0; c < columns.size(); ++c) {
    IdTable ids;
    for (const auto& name : names.list) ids.number_of(0, name[c]);
    if (const auto pair = ids.other_spelling(); !pair.empty()) errors.add(line, 1, spellings_text(columns[c], pair, true));
  }
}

/// Returns the names, each joined to one text, in sorted order; the member `field` of `runs` gets their new numbers.
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

/// The indices, in the file's header, of the wanted columns.
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

/// Returns the texts of some columns of a line; an empty one is a mistake.
std::vector<std::string> texts_of(const std::vector<CsvField>& fields, const std::vector<std::size_t>& places,
                                  const std::vector<std::string>& names, IdSpelling ids, CsvErrors& errors) {
  std::vector<std::string> texts;
  std::string buffer;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const CsvField& field = fields[places[i]];
    texts.emplace_back(plain_id(csv_text(field), ids, buffer));
    if (texts.back().empty()) errors.add(field.line, field.column, "column " + quoted_name(names[i]) + " is empty");
  }
  return texts;
}

/// Returns the value of a run; nothing if it is missing (which `table` counts) or a mistake (which `errors` gets).
std::optional<double> value_of(const CsvField& field, const std::string& name, const MissingCodes& missing, char separator, long& commas,
                               RunTable& table, CsvErrors& errors) {
  const std::string text = csv_text(field);
  const CellText cell = read_cell(text, separator, commas);
  if (missing.has(cell, text)) return ++table.not_a_number, std::nullopt;
  if (cell.kind == CellText::Kind::number) return cell.value;
  if (cell.kind == CellText::Kind::blank) ++(trimmed(text).empty() ? table.blank : table.not_a_number);
  else
    errors.add(field.line, field.column,
               printable_text(name) + " " + shown_cell(text) + (cell.mistake ? std::string(" ") + cell.mistake : ": a number is wanted"));
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

RunTable parse_runs(std::string_view bytes, const std::string& file, const RunColumns& columns) {
  CsvErrors errors(file);
  const NamedText decoded = decoded_text(bytes, file);
  const std::string_view text = decoded.text.empty() ? bytes : std::string_view(decoded.text);
  const char separator = columns.separator != 0 ? columns.separator : separator_of(text);
  CsvReader reader(text, separator);
  std::vector<CsvField> fields;
  if (text.size() > max_scores_bytes) errors.add(1, 1, "larger than " + std::to_string(max_scores_bytes >> 20) + " MiB");
  else check_csv_format(text, errors);
  if (!errors.any() && !reader.next(fields, errors)) errors.add(1, 1, "nothing in it; wanted a header and one row per run");
  if (!errors.any()) check_csv_header(fields, wanted_header, errors, separator);
  if (errors.any()) reject(errors);
  const long header_line = fields[0].line;
  const Places places = find_columns(fields, file, columns, errors);

  RunTable table;
  Names cells, tasks, units;
  const MissingCodes missing(columns.missing);
  long commas = 0;
  reader.header_has(places.fields);
  for (std::size_t before = 0; !errors.enough() && reader.next(fields, errors); before = errors.size()) {
    if (errors.size() > before) continue;  // this line's mistake is already reported
    if (!check_field_count(fields, places.fields, errors)) continue;
    const auto cell = texts_of(fields, places.cell, columns.cell, columns.ids, errors),
               task = texts_of(fields, places.task, columns.task, columns.ids, errors),
               unit = texts_of(fields, {places.unit}, {columns.unit}, columns.ids, errors);
    const auto value = value_of(fields[places.value], columns.value, missing, separator, commas, table, errors);
    if (errors.size() > before) continue;
    const std::uint32_t cell_number = cells.number_of(cell);  // also of a cell whose runs all failed
    if (value)
      table.runs.push_back({cell_number, tasks.number_of(task), units.number_of(unit), *value, static_cast<std::uint32_t>(fields[0].line)});
  }
  if (columns.ids == IdSpelling::unset) {
    check_spellings(cells, columns.cell, header_line, errors), check_spellings(tasks, columns.task, header_line, errors);
    check_spellings(units, {columns.unit}, header_line, errors);
  }
  if (const std::string note = reader.skipped_note(); !note.empty()) table.notes.push_back(note);
  if (columns.separator == 0 && (separator == ';' || separator == '|')) table.notes.push_back(separator_note(separator));
  if (commas > 0) table.notes.push_back(commas_note(commas));
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
