// Computes statistics of a CSV or JSON file with one row per run, or of a result file: `odrpo-bench stats FILE`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include "app/command.hpp"
#include "app/flags/flag_values.hpp"
#include "app/stats/stats_report.hpp"
#include "app/table/query.hpp"
#include "config/read/read_file.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/output_file.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/csv.hpp"
#include "results/store/store.hpp"
#include "results/table/dimensions.hpp"
#include "results/table/table.hpp"

namespace odrpo::app {
namespace {

constexpr std::size_t most_cells = 2000, most_strata = 1'000'000, most_thresholds = 100;

/// Splits a flag's list at commas, as a line of CSV: a part that holds a comma stands in double quotes. Failure `usage` for an empty part.
std::vector<std::string> parts_of(const char* flag, const std::string& list) {
  CsvErrors errors(flag);
  CsvReader reader(list);
  std::vector<CsvField> fields, more;
  const bool one_line = reader.next(fields, errors) && !reader.next(more, errors);
  std::vector<std::string> parts;
  for (const CsvField& field : fields) parts.push_back(csv_text(field));
  if (!one_line || errors.any() || std::find(parts.begin(), parts.end(), "") != parts.end())
    fail(Exit::usage, "{}: \"{}\" is not a list of words with commas between", flag, list);
  return parts;
}

double number(const char* flag, const std::string& text) { return flag_number(flag, text, printable_line); }
bool is_number(const std::string& text) { return number_from<double>(text).has_value(); }

/// True if the file has the ending or the first bytes of a result file.
bool is_result_file(const std::string& path) {
  if (path.ends_with(".h5")) return true;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::string begin(hdf5_signature.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  return file.read(begin.data(), static_cast<std::streamsize>(begin.size())) && begin == hdf5_signature;
}

RunColumns run_columns(const StatsOptions& o) {
  const std::pair<const char*, const std::string*> required[] = {{"--unit is required: column of what is independent, e.g. seed", &o.unit},
                                                                 {"--cell is required: columns of what is compared", &o.cell},
                                                                 {"--value is required: column of the numbers", &o.value}};
  for (const auto& [message, text] : required)
    if (text->empty()) throw Failure(Exit::usage, message);
  if (!o.where.empty()) fail(Exit::usage, "--where: only a result file's runs are chosen by it");
  RunColumns columns{o.unit, parts_of("--cell", o.cell), o.value, {}};
  set_reading(o.reading, columns.reading);
  if (!o.task.empty()) columns.task = parts_of("--task", o.task);
  std::vector<std::string> all = columns.cell;
  all.insert(all.end(), columns.task.begin(), columns.task.end());
  all.insert(all.end(), {o.unit, o.value});
  std::sort(all.begin(), all.end());
  if (const auto twice = std::adjacent_find(all.begin(), all.end()); twice != all.end())
    fail(Exit::usage, "column \"{}\" is named twice: each column is one of unit, cell, value and task", *twice);
  return columns;
}

/// The different texts in a column of the cells.
std::vector<std::string> texts_in(const RunTable& runs, std::size_t column) {
  std::vector<std::string> texts;
  for (const auto& cell : runs.cells)
    if (std::find(texts.begin(), texts.end(), cell[column]) == texts.end()) texts.push_back(cell[column]);
  return texts;
}

/// The text of a cell in `column` that `text` means: 1.0 is 1, as in the file. Failure `usage` when no cell has it.
std::string text_of_cell(const char* flag, const StatsReport& report, std::size_t column, const std::string& text) {
  std::vector<std::string> texts = texts_in(report.runs, column);
  std::string buffer;
  for (const std::string_view meant : {std::string_view(text), plain_id(text, report.columns.reading.ids, buffer)})
    if (std::find(texts.begin(), texts.end(), meant) != texts.end()) return std::string(meant);
  for (std::string& t : texts) t = printable_line(t);
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  fail(Exit::usage, "{}: no cell has {} \"{}\"{}\nIt has {}", flag, report.columns.cell[column], text,
       is_number(text) ? "" : did_you_mean(text, texts), one_of(views));
}

/// Parses --baseline, such as "grpo", "grpo,1" or "votes=1": each part is a text of the next column of cells, or of the column that it names.
void choose_baseline(StatsReport& report, const std::string& words) {
  const std::vector<std::string>& columns = report.columns.cell;
  auto& baseline = report.options.baseline;
  baseline.resize(columns.size());
  std::size_t next = 0;
  for (std::string text : parts_of("--baseline", words)) {
    std::size_t column = next;
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (text.starts_with(columns[i] + "=")) column = i;
    if (column == next) ++next;
    if (column < columns.size() && text.starts_with(columns[column] + "=")) text.erase(0, columns[column].size() + 1);
    if (column >= columns.size() || baseline[column])
      fail(Exit::usage, "--baseline: \"{}\" has more texts than a cell has columns ({})", words, joined(columns));
    baseline[column] = text_of_cell("--baseline", report, column, text);
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!baseline[i]) continue;
    const bool bare = (i == 0 || baseline[i - 1]) && !is_number(*baseline[i]);  // else the name of its column is needed
    add_item(report.baseline, (bare ? "" : columns[i] + "=") + *baseline[i]);
  }
  const auto& cells = report.runs.cells;
  const auto fits = [&](const std::vector<std::string>& cell) {
    for (std::size_t i = 0; i < cell.size(); ++i)
      if (baseline[i] && cell[i] != *baseline[i]) return false;
    return true;
  };
  if (std::none_of(cells.begin(), cells.end(), fits)) fail(Exit::usage, "--baseline: no cell is \"{}\"", report.baseline);
}

/// Parses --contrast, such as "votes=1:8". The text before or after the colon may hold colons too.
void choose_contrast(StatsReport& report, const std::string& words) {
  const std::vector<std::string>& columns = report.columns.cell;
  const std::string wanted = "COLUMN=WITH:WITHOUT, as votes=1:8";
  if (report.options.baseline.empty()) fail(Exit::usage, "--contrast: there is no baseline to subtract; --baseline names one");
  std::size_t column = columns.size();
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (words.starts_with(columns[i] + "=") && (column == columns.size() || columns[i].size() > columns[column].size())) column = i;
  if (column == columns.size()) {
    const std::string name = words.substr(0, words.find('='));
    fail(Exit::usage, "--contrast wants {}: \"{}\" is not a column of --cell{}", wanted, name, did_you_mean(name, columns));
  }
  const std::string texts = words.substr(columns[column].size() + 1);
  const std::vector<std::string> known = texts_in(report.runs, column);
  const auto is_known = [&](const std::string& text) { return std::find(known.begin(), known.end(), text) != known.end(); };
  std::size_t colon = texts.find(':');
  if (colon == std::string::npos) fail(Exit::usage, "--contrast wants {}: \"{}\" has no colon", wanted, words);
  for (std::size_t at = colon; at != std::string::npos; at = texts.find(':', at + 1))
    if (is_known(texts.substr(0, at)) && is_known(texts.substr(at + 1))) colon = at;
  const ContrastChoice contrast{column, text_of_cell("--contrast", report, column, texts.substr(0, colon)),
                                text_of_cell("--contrast", report, column, texts.substr(colon + 1))};
  if (contrast.with == contrast.without) fail(Exit::usage, "--contrast: WITH and WITHOUT are the same");
  if (report.options.baseline[column])
    fail(Exit::usage,
         "--contrast: the baseline has a {} of its own, so that it would cancel out; --baseline must "
         "leave this column to the rows",
         columns[column]);
  report.options.contrast = contrast;
}

StatisticsOptions options_of(const StatsOptions& o) {
  StatisticsOptions options;
  options.interval = find_word<IntervalKind>(interval_words, o.interval).value_or(options.interval);  // the flag takes only these words
  options.resamples = o.resamples;
  options.seed = static_cast<std::uint64_t>(o.seed);
  if (!o.level.empty()) options.level = number("--level", o.level);
  if (!(options.level >= 0.5 && options.level <= 0.999)) throw Failure(Exit::usage, "--level: " + o.level + " is not in 0.5..0.999");
  if (!o.gamma.empty()) options.gamma = number("--gamma", o.gamma);
  if (!o.thresholds.empty())
    for (const std::string& text : parts_of("--thresholds", o.thresholds)) options.thresholds.push_back(number("--thresholds", text));
  if (options.thresholds.size() > most_thresholds) fail(Exit::usage, "--thresholds: more than {} numbers", most_thresholds);
  return options;
}

}  // namespace

int stats(const StatsOptions& o) {
  const bool result = is_result_file(o.path);
  StatsReport report{o.path, {}, options_of(o), {}, {}, {}};
  const std::string csv = result ? "" : read_scores_file(o.path);
  if (!result) report.columns = run_columns(o);
  for (const auto& [key, given] : o.reading)
    if (result && !given.empty()) fail(Exit::usage, "--{} has no effect: {} is a result file", key, o.path);
  if (!o.output.empty()) check_output(o.output, o.path);
  if (result) {
    const auto list = [](const char* flag, const std::string& words) {
      return words.empty() ? std::vector<std::string>() : parts_of(flag, words);
    };
    read_result_runs(o, list("--cell", o.cell), list("--task", o.task), report);
  } else {
    report.runs = parse_runs(csv, printable_line(o.path), report.columns);
  }
  if (report.runs.cells.size() > most_cells)
    fail(Exit::limits, "{} cells are more than {}: is one of the columns of --cell different in every run?", report.runs.cells.size(),
         most_cells);
  if (report.runs.cells.size() * report.runs.tasks.size() > most_strata)
    fail(Exit::limits, "{} cells x {} tasks are more than {}", report.runs.cells.size(), report.runs.tasks.size(), most_strata);
  const std::string usual = report.usual_baseline.empty() ? "" : csv_field(report.usual_baseline);
  const std::string baseline = o.baseline.empty() ? usual : result && o.baseline == "none" ? "" : o.baseline;
  if (!baseline.empty()) choose_baseline(report, baseline);
  if (!o.contrast.empty()) choose_contrast(report, o.contrast);
  report.statistics = run_statistics(report.runs, report.options);
  const std::string text = o.format == "csv" ? stats_csv(report) : o.format == "json" ? stats_json(report) : stats_text(report);
  if (o.output.empty()) put(text);
  else write_output(o.output, text);
  if (o.format == "csv")
    for (const std::string& remark : remarks(report)) print_note(remark);
  return static_cast<int>(Exit::ok);
}

// Reads the runs of a result file for `stats`: those of the suite's own table, or with other axes as cells and tasks.

namespace {

/// The dimension of a table (rows, columns, ...) that a word of `flag` names, out of `names`. Failure `usage` if there is none.
std::string dimension_of(const std::vector<std::string>& names, const std::string& word, const char* flag) {
  const std::string name = word == values_dimension ? word : dimension_named(names, word, flag);
  if (std::find(names.begin(), names.end(), name) != names.end()) return name;
  fail(Exit::usage, "{}: the values of a table do not tell its cells apart", flag);
}

}  // namespace

void read_result_runs(const StatsOptions& o, const std::vector<std::string>& cell, const std::vector<std::string>& task,
                      StatsReport& report) {
  if (!o.unit.empty() && o.unit != "seed") fail(Exit::usage, "--unit: the runs of a result file are paired by seed");
  TableQuery query;
  query.paths = {o.path};
  query.where = o.where;
  query.max_seconds = o.max_seconds;
  query.max_memory = o.max_memory;
  if (!o.value.empty()) query.value = {o.value};
  if (!cell.empty()) query.rows = cell[0];  // so that a table without the suite's own axes can be built too
  if (cell.size() > 1) query.columns = cell[1];
  else if (!cell.empty() && !task.empty()) query.columns = task[0];
  const TableModel table = query_table(read_table_file(query), query);
  std::vector<std::string> left = cell_dimensions(table);
  const auto take = [&](const std::vector<std::string>& words, const char* flag) {
    std::vector<std::string> taken;
    for (const std::string& word : words) {
      taken.push_back(dimension_of(left, word, flag));
      std::erase(left, taken.back());
    }
    return taken;
  };
  report.columns.unit = "seed";
  report.columns.value = value_text(table.values[0]);
  report.columns.task = take(task, "--task");
  report.columns.cell = take(cell, "--cell");
  report.columns.cell.insert(report.columns.cell.end(), left.begin(), left.end());  // axes that are neither also tell cells apart
  report.runs = table_runs(table, report.columns.cell, report.columns.task);
  for (const std::string& axis : table.spec.best)
    report.notes.push_back(fmt::format(
        "each cell is taken at its own best {}{}", axis,
        table.spec.tune_seeds > 0
            ? fmt::format(
                  ", chosen on the first {} seeds, which are not counted; a star says that one of two cells beats the other at every {} "
                  "that it might have chosen{}",
                  table.spec.tune_seeds, axis, report.runs.tasks.size() > 1 ? ", and at every combination of them over the tasks" : "")
            : ", chosen on the seeds that are counted, which flatters it: no difference is tested"));
  if (!table.spec.groups.empty() && o.baseline.empty())
    report.notes.push_back("the suite's table has several baselines, and nothing is compared here: --baseline names one");
  report.notes.insert(report.notes.end(), table.notes.begin(), table.notes.end());
  report.usual_baseline = table.spec.baseline;
}

}  // namespace odrpo::app
