// Parses the text of a CSV or JSON file into its runs, or lists its mistakes.
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
#include "results/scores/score_texts.hpp"
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

/// The columns that are wanted: unit, value, then cells and tasks.
std::vector<std::string> wanted_names(const RunColumns& columns) {
  std::vector<std::string> names = {columns.unit, columns.value};
  names.insert(names.end(), columns.cell.begin(), columns.cell.end());
  names.insert(names.end(), columns.task.begin(), columns.task.end());
  return names;
}

/// The indices of the wanted columns among the fields of a row.
struct Places {
  std::size_t unit = 0, value = 1;
  std::vector<std::size_t> cell, task;
};

/// Refuses columns that are not among the file's `names`.
void check_names(const std::vector<std::string>& names, const std::string& file, const RunColumns& columns) {
  std::vector<std::string> shown;
  for (const std::string& name : names) shown.push_back(printable_text(name));
  std::string missing;
  const auto check = [&](const char* flag, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      add_item(missing, std::string(flag) + ": " + file + " has no column " + quoted_name(name) + did_you_mean(name, shown), "\n");
  };
  check("--unit", columns.unit);
  for (const std::string& name : columns.cell) check("--cell", name);
  check("--value", columns.value);
  for (const std::string& name : columns.task) check("--task", name);
  if (missing.empty()) return;
  const std::vector<std::string_view> views(shown.begin(), shown.end());
  throw Failure(Exit::usage, missing + "\nIts columns: " + one_of(views));
}

/// Rows of a CSV file or of JSON objects. Each has a field for each wanted column, in the order of wanted_names().
class RunRows {
 public:
  RunRows(std::string_view text, const std::string& file, const RunColumns& columns, CsvErrors& errors)
      : wanted_(wanted_names(columns)), separator_(columns.reading.separator) {
    if (is_json(text, file)) {
      errors.count_same();
      json_.emplace(text, wanted_, errors);
      if (errors.any()) reject(errors);
      first_line_ = json_->first_line(), separator_ = 0;
      check_names(json_->names(), file, columns);
      return;
    }
    if (separator_ == 0) separator_ = format_by_name(file) == ScoreFormat::tsv ? '\t' : separator_of(text);
    csv_.emplace(text, separator_);
    if (!csv_->next(row_, errors)) errors.add(1, 1, "nothing in it; wanted a header and one row per run");
    if (!errors.any()) check_csv_header(row_, wanted_header, errors, separator_);
    if (errors.any()) reject(errors);
    first_line_ = row_[0].line, width_ = row_.size();
    csv_->header_has(width_);
    std::vector<std::string> names;
    for (const CsvField& field : row_) names.push_back(csv_text(field));
    check_names(names, file, columns);
    for (const std::string& name : wanted_) {
      const auto at = std::find(names.begin(), names.end(), name);
      places_.push_back(static_cast<std::size_t>(at - names.begin()));
      const auto again = std::find(at + 1, names.end(), name);
      if (again == names.end()) continue;
      const CsvField& field = row_[static_cast<std::size_t>(again - names.begin())];
      errors.add(field.line, field.column, "column " + quoted_name(name) + " stands twice");
    }
    if (errors.any()) reject(errors);
  }

  /// False at the end. A row that cannot be used is reported in `errors`.
  bool next(std::vector<CsvField>& fields, CsvErrors& errors) {
    if (json_) return json_->next(fields, errors);
    const std::size_t before = errors.size();
    if (!csv_->next(row_, errors)) return false;
    if (errors.size() > before || !check_field_count(row_, width_, errors)) return true;
    fields.clear();
    for (const std::size_t place : places_) fields.push_back(row_[place]);
    return true;
  }

  long first_line() const { return first_line_; }
  char separator() const { return separator_; }
  std::string skipped_note() const { return csv_ ? csv_->skipped_note() : ""; }

 private:
  std::vector<std::string> wanted_;
  char separator_;
  std::optional<JsonFields> json_;
  std::optional<CsvReader> csv_;
  std::vector<CsvField> row_;
  std::vector<std::size_t> places_;  ///< of the wanted columns in a row of a CSV file
  std::size_t width_ = 0;
  long first_line_ = 1;
};

/// Fractions N/M count as N where all of them have one M and no value is above it, as in files of judges.
class Fractions {
 public:
  void add(const CellText& cell, const CsvField& at, const std::string& text) {
    largest_ = std::max(largest_, cell.value);
    if (cell.kind != CellText::Kind::fraction) return;
    if (count_++ == 0) whole_ = cell.whole, place_ = {at.line, at.column}, first_ = text;
    several_ |= cell.whole != whole_;
  }
  void settle(const std::string& name, RunTable& table, CsvErrors& errors) const {
    if (count_ == 0) return;
    if (several_ || largest_ > whole_)
      errors.add(place_.line, place_.column,
                 printable_text(name) + " " + shown_cell(first_) + ": a number is wanted, or N/M with one M in the whole file and no value above it");
    else table.notes.push_back(fractions_note(count_, whole_));
  }

 private:
  double whole_ = 0, largest_ = 0;
  long count_ = 0;
  bool several_ = false;
  CellPlace place_;
  std::string first_;
};

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
std::optional<double> value_of(const CsvField& field, const std::string& name, ScoreTexts& texts, Fractions& fractions, RunTable& table, CsvErrors& errors) {
  const std::string text = csv_text(field);
  const CellText cell = texts.read(text);
  if (cell.kind == CellText::Kind::number || cell.kind == CellText::Kind::fraction) return fractions.add(cell, field, text), cell.value;
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
  const ScoreReading& reading = columns.reading;
  const NamedText decoded = decoded_text(bytes, file);
  const std::string_view text = decoded.text.empty() ? bytes : std::string_view(decoded.text);
  if (text.size() > max_scores_bytes) errors.add(1, 1, "larger than " + std::to_string(max_scores_bytes >> 20) + " MiB");
  else check_csv_format(text, errors);
  if (errors.any()) reject(errors);
  RunRows rows(text, file, columns, errors);
  const long first_line = rows.first_line();
  Places places;
  for (std::size_t i = 0; i < columns.cell.size(); ++i) places.cell.push_back(2 + i);
  for (std::size_t i = 0; i < columns.task.size(); ++i) places.task.push_back(2 + columns.cell.size() + i);

  RunTable table;
  Names cells, tasks, units;
  ScoreTexts texts(reading, rows.separator());
  Fractions fractions;
  std::vector<CsvField> fields;
  for (std::size_t before = 0; !errors.enough() && rows.next(fields, errors); before = errors.size()) {
    if (errors.size() > before) continue;  // this row's mistake is already reported
    const auto cell = texts_of(fields, places.cell, columns.cell, reading.ids, errors),
               task = texts_of(fields, places.task, columns.task, reading.ids, errors),
               unit = texts_of(fields, {places.unit}, {columns.unit}, reading.ids, errors);
    const auto value = value_of(fields[places.value], columns.value, texts, fractions, table, errors);
    if (errors.size() > before) continue;
    const std::uint32_t cell_number = cells.number_of(cell);  // also of a cell whose runs all failed
    if (value)
      table.runs.push_back({cell_number, tasks.number_of(task), units.number_of(unit), *value, static_cast<std::uint32_t>(fields[0].line)});
  }
  if (reading.ids == IdSpelling::unset) {
    check_spellings(cells, columns.cell, first_line, errors), check_spellings(tasks, columns.task, first_line, errors);
    check_spellings(units, {columns.unit}, first_line, errors);
  }
  fractions.settle(columns.value, table, errors);
  if (const std::string note = rows.skipped_note(); !note.empty()) table.notes.push_back(note);
  if (reading.separator == 0 && (rows.separator() == ';' || rows.separator() == '|')) table.notes.push_back(separator_note(rows.separator()));
  for (std::string& note : texts.notes()) table.notes.push_back(std::move(note));
  table.cells = cells.list;
  table.tasks = sort_names(tasks, table.runs, &RunTable::Run::task);
  table.units = sort_names(units, table.runs, &RunTable::Run::unit);
  if (!errors.enough()) sort_runs(table, errors);
  if (errors.any()) reject(errors);
  if (table.runs.empty()) {
    errors.add(first_line, 1, table.blank + table.not_a_number > 0 ? "no run below the header has a value" : "no runs below the header");
    reject(errors);
  }
  return table;
}

}  // namespace odrpo
