// Builds the table of a result file that the flags choose, and prints it: `odrpo-bench table FILE.h5`.
#include "app/table/query.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "app/flags/flag_values.hpp"
#include "app/run/provenance.hpp"
#include "estimators/estimator.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"
#include "results/export/json_text.hpp"
#include "results/store/store.hpp"
#include "results/table/render/cell_texts.hpp"
#include "results/table/table.hpp"
#include "results/table/table_spec.hpp"
#include "train/curves.hpp"
#include "train/level_curves.hpp"

namespace odrpo::app {
namespace {

/// Splits a list at its commas. Failure `usage` for an empty word.
std::vector<std::string> listed_words(const char* flag, const std::string& list) {
  std::vector<std::string> words = split(list, ',');
  if (std::find(words.begin(), words.end(), "") != words.end()) fail(Exit::usage, "{}: a word is missing in \"{}\"", flag, list);
  return words;
}

/// Parses --baseline into `spec`: "none", "ROW", or several "ROW=ROW,ROW", each a baseline and the rows that are compared with it.
void ask_baselines(const std::vector<std::string>& words, TableSpec& spec) {
  spec.baseline.clear();
  spec.groups.clear();
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos && words.size() > 1)
      throw Failure(Exit::usage, "--baseline: several baselines are each ROW=ROW,ROW: the baseline and the rows compared with it; not \"" +
                                     printable_line(word) + "\"");
    if (equals == std::string::npos) spec.baseline = word == "none" ? "" : word;
    else spec.groups.push_back({word.substr(0, equals), listed_words("--baseline", word.substr(equals + 1))});
  }
}

/// The name of the row that a word of --baseline means: the row of this name, or the estimator that `word` also names (dr-grpo, …).
std::string baseline_row(const ResultFile& file, const std::string& rows, const std::string& word) {
  const Column* estimators = file.column("estimator");
  const auto is_row = [&](const std::string& name) {
    return estimators && std::find(estimators->words.begin(), estimators->words.end(), name) != estimators->words.end();
  };
  const auto config = rows == "estimator" && !is_row(word) ? parse_estimator(word) : std::nullopt;
  const std::string usual = config ? estimator_word(*config) : word;
  return is_row(usual) ? usual : word;
}

/// Adds the label of --label NAME=LABEL, split at the last "=", since a name may be AXIS=VALUE. It replaces the suite's label of that name.
void ask_label(const std::string& word, TableSpec& spec) {
  const std::size_t equals = word.rfind('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == word.size())
    fail(Exit::usage, "--label wants NAME=LABEL, as 'odrpo(grpo)=ODRPO'; not \"{}\"", shown(word));
  std::erase_if(spec.labels, [&](const auto& label) { return label.first == word.substr(0, equals); });
  spec.labels.emplace_back(word.substr(0, equals), word.substr(equals + 1));
}

/// Refuses labels of --label with which two rows or columns have one name. Tells of each whose name the table does not show.
void check_labels(const TableQuery& q, const TableModel& table) {
  if (q.labels.empty()) return;
  std::set<std::string> rows, columns;
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    if (const std::string name = row_text(table, r); !rows.insert(name).second) fail(Exit::usage, "--label: two rows are called \"{}\"", name);
  for (const std::string& column : table.columns)
    if (const std::string name = entry_text(table, table.spec.columns, column); !columns.insert(name).second)
      fail(Exit::usage, "--label: two columns are called \"{}\"", name);
  std::vector<std::string> names;
  const auto add = [&](const std::string& dimension, const std::string& value) {
    if (dimension == values_dimension) return;
    for (const std::string& name : {value, dimension + "=" + value, dimension.substr(dimension.rfind('.') + 1) + "=" + value}) names.push_back(name);
  };
  for (const std::string& row : table.rows) add(table.spec.rows, row);
  for (const std::string& column : table.columns) add(table.spec.columns, column);
  for (const TableBlock& block : table.blocks)
    for (const auto& [name, value] : block.fixed) add(name, value);
  for (const std::string& word : q.labels) {
    const std::string name = printable_text(word.substr(0, word.rfind('=')));
    if (std::find(names.begin(), names.end(), name) == names.end())
      print_note(fmt::format("note: --label: the table has no \"{}\"{}", name, did_you_mean(name, names)));
  }
}

/// The names of joined files in tables: without folder and .h5 if they differ then, else as they are given.
std::vector<std::string> file_names(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (const std::string& path : paths) names.push_back(printable_line(std::filesystem::path(path).filename().replace_extension().string()));
  const std::set<std::string> different(names.begin(), names.end());
  if (different.size() == names.size() && different.count("") == 0) return names;
  if (std::set<std::string>(paths.begin(), paths.end()).size() < paths.size()) fail(Exit::usage, "a file is named twice");
  return paths;
}

/// True if two words mean the same axis: "lr" is short for "learn.lr".
bool same_axis(const std::string& a, const std::string& b) { return a == b || a.ends_with("." + b) || b.ends_with("." + a); }

/// The table that the flags ask for: the suite's own, changed by each flag. Rows of --baseline keep the spelling of the flag.
TableSpec asked_spec(const ResultFile& head, const TableQuery& o) {
  const std::string* stored = head.provenance_text("table");
  const bool several = o.paths.size() > 1, own = o.rows.empty() && o.columns.empty() && o.value.empty();
  const std::string rows = several && o.rows.empty() && o.columns != file_dimension ? file_dimension : o.rows;
  if (const std::string problem = stored && own ? table_spec_problem(*stored) : ""; !problem.empty()) throw Failure(Exit::usage, problem);
  TableSpec spec = parse_table_spec(stored ? *stored : "");
  if (!rows.empty() && rows != spec.rows) {  // the suite's baselines name rows that this table lacks
    spec.rows = rows;
    spec.baseline.clear();
    spec.groups.clear();
  }
  if (rows == file_dimension && several) spec.baseline = file_names(o.paths).front();
  if (!o.columns.empty()) spec.columns = o.columns;
  for (const std::string& label : o.labels) ask_label(label, spec);
  if (!o.value.empty()) spec.value = value_names(o.value);
  else if (spec.value.size() > 1 && !spec.over_values()) spec.value.resize(1);  // values are neither rows nor columns now
  if (!o.baseline.empty()) ask_baselines(o.baseline, spec);
  if (!o.compare.empty()) {
    spec.compare = word_or_refuse("--compare", compare_words, o.compare);
    if (!spec.compares()) fail(Exit::usage, "--compare: there is no baseline to compare with; --baseline names one");
  }
  if (!o.correction.empty()) {
    spec.correction = word_or_refuse("--correction", correction_words, o.correction);
    if (!spec.compares()) fail(Exit::usage, "--correction: there is no baseline to compare with; --baseline names one");
  }
  if (!o.best.empty()) spec.best = o.best;
  else std::erase_if(spec.best, [&](const std::string& axis) { return same_axis(axis, spec.rows) || same_axis(axis, spec.columns); });
  if (o.tune_seeds >= 0) spec.tune_seeds = o.tune_seeds;
  else if (spec.best.empty()) spec.tune_seeds = 0;  // no axis is chosen at its best value, so no seeds are needed for that
  if (o.tune_seeds > 0 && spec.best.empty())
    fail(Exit::usage, "--tune-seeds: there is nothing to choose; --best names an axis of which each cell takes its best value");
  return spec;
}

/// True if a flag caused the error of make_table() that has this message. The message begins with the key of the wrong setting; without a
/// key it concerns rows, columns and best.
bool set_by_flag(std::string_view message, const TableQuery& o) {
  if (message.starts_with("--")) return true;
  const std::pair<std::string_view, bool> keys[] = {
      {"rows: ", !o.rows.empty()},         {"columns: ", !o.columns.empty()},   {"value: ", !o.value.empty()}, {"best: ", !o.best.empty()},
      {"baseline: ", !o.baseline.empty()}, {"tune_seeds: ", o.tune_seeds >= 0}, {"where: ", !o.where.empty()}};
  for (const auto& [key, set] : keys)
    if (message.starts_with(key)) return set;
  return !o.rows.empty() || !o.columns.empty() || !o.best.empty();
}

/// Calls a function that may refuse the table. If no flag caused the refusal, the table stored in the file is invalid: throws bad_input.
template <class Call>
auto blaming(const ResultFile& file, const TableQuery& o, Call call) {
  try {
    return call();
  } catch (const Failure& failure) {
    if (failure.code != Exit::usage || set_by_flag(failure.what(), o)) throw;
    throw Failure(Exit::bad_input,
                  fmt::format("'{}': {} table cannot be shown: {}; --rows, --columns and --value choose another", printable_line(o.path()),
                              file.provenance_text("table") ? "its stored" : "the usual", failure.what()));
  }
}

/// Parses --where AXIS=VALUE, split at the first "=". If one axis is given several values, runs with any of them are meant.
std::vector<ChosenRuns> asked_runs(const std::vector<std::string>& words) {
  std::vector<ChosenRuns> where;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      throw Failure(Exit::usage, "--where wants AXIS=VALUE, as rater=mixed; not \"" + printable_line(word) + "\"");
    const std::string axis = word.substr(0, equals), value = word.substr(equals + 1);
    const auto same = std::find_if(where.begin(), where.end(), [&](const ChosenRuns& c) { return c.axis == axis; });
    if (same == where.end()) where.push_back({axis, {value}});
    else same->allowed.push_back(value);
  }
  return where;
}

/// The conditions of --where in words: "rater=mixed or veto, votes=1".
std::string chosen_text(const std::vector<ChosenRuns>& where) {
  return joined(where, [](const ChosenRuns& only) {
    return fmt::format("{}={}", printable_line(only.axis), printable_line(joined(only.allowed, {}, " or ")));
  });
}

}  // namespace

std::vector<std::string> value_names(const std::vector<std::string>& lists) {
  std::vector<std::string> names;
  for (const std::string& list : lists)
    for (std::string& word : listed_words("--value", list)) names.push_back(std::move(word));
  return names;
}

namespace {

ResultFile read_one_file(const TableQuery& q, const std::string& path, const std::vector<std::string>& values, const std::vector<std::string>& if_there) {
  const auto choose = [&](const ResultFile& head) {  // runs in the separate process that reads the file
    std::vector<std::string> columns = blaming(head, q, [&] { return stored_columns(head, asked_spec(head, q)); });
    const auto add = [&](const std::string& value) {
      TableSpec alone;
      alone.value = {value};
      for (std::string& column : stored_columns(head, alone)) columns.push_back(std::move(column));
    };
    for (const std::string& value : values) add(value);
    for (const std::string& value : if_there) try {
        add(value);
      } catch (const Failure&) {  // the file has no such value
      }
    return columns;
  };
  const ReadLimits limits = read_limits(q.max_seconds, q.max_memory);
  ResultFile file = read_results(path, choose, limits);
  const TableSpec spec = asked_spec(file, q);
  blaming(file, q, [&] {
    add_win_rates(file, path, spec.value, q.value.empty(), limits);  // lenient: --only may have left out the opponent
    add_win_rates(file, path, values, false, limits);
    return true;
  });
  return file;
}

}  // namespace

ResultFile read_table_file(const TableQuery& q, const std::vector<std::string>& values, const std::vector<std::string>& if_there) {
  if (q.paths.size() == 1) return read_one_file(q, q.path(), values, if_there);
  const std::vector<std::string> names = file_names(q.paths);
  std::vector<ResultFile> files;
  for (const std::string& path : q.paths) files.push_back(read_one_file(q, path, values, if_there));
  return joined_files(files, names);
}

TableModel query_table(const ResultFile& whole, const TableQuery& q) {
  const std::vector<ChosenRuns> where = asked_runs(q.where);
  const ResultFile kept = where.empty() ? ResultFile() : chosen_runs(whole, where);
  const ResultFile& file = where.empty() ? whole : kept;
  TableSpec spec = asked_spec(file, q);
  if (!q.baseline.empty()) {
    if (!spec.baseline.empty()) spec.baseline = baseline_row(file, spec.rows, spec.baseline);
    for (BaselineGroup& group : spec.groups) {
      group.baseline = baseline_row(file, spec.rows, group.baseline);
      for (std::string& row : group.rows) row = baseline_row(file, spec.rows, row);
    }
  }
  TableModel table = blaming(file, q, [&] { return q.baseline.empty() ? make_suite_table(file, spec) : make_table(file, spec); });
  if (!where.empty()) table.notes.insert(table.notes.begin(), fmt::format("only the {} runs with {}", file.runs, chosen_text(where)));
  check_labels(q, table);
  return table;
}

// Builds the table that the flags choose with a recorded curve in its cells.

namespace {

constexpr const char *uniform = "uniform_quality", *best = "best_quality";

bool is_gain(const std::string& curve) { return same_word(curve, gain_curve); }

/// The curve that a table value summarises: "final_reward" is the last point of the curve "reward", "auc_gain" the mean of "gain".
/// For any other value, the curve quality.
std::string curve_of(const std::string& value, const ResultFile& file) {
  std::string_view column = value;
  for (const ValueWord& word : value_words)
    if (value == word.word) column = word.column;
  for (const std::string_view part : {"final_", "auc_"})
    if (column.starts_with(part)) column.remove_prefix(part.size());
  const auto has_numbers = [&](const std::string& name) { return file.column(name) != nullptr && file.column(name)->numeric; };
  const std::vector<std::string> columns = curve_columns(gain_curve);
  if (column == gain_curve && std::all_of(columns.begin(), columns.end(), has_numbers)) return gain_curve;
  for (int id = 0; id < all_curves; ++id)
    if (column == curve_name(static_cast<CurveId>(id))) return std::string(column);
  return curve_name(CurveId::quality);
}

const std::vector<double>& numbers(const ResultFile& file, const char* name) {
  const Column* column = file.column(name);
  if (column == nullptr || !column->numeric) throw Failure(Exit::internal, std::string("column ") + name + " has not been read");
  return column->number;
}

/// Name, unit and meaning of a curve; only the name where this program does not know the curve.
CurveValue described(const std::string& curve) {
  CurveValue value{curve, "", "recorded curve " + curve, {}, {}};
  for (int id = 0; id < all_curves; ++id)
    if (const CurveText text = curve_text(static_cast<CurveId>(id)); same_word(text.name, curve)) {
      value.name = text.name;
      value.unit = text.unit;
      value.meaning = text.meaning;
    }
  for (const LevelCurveKind& kind : level_curve_kinds)
    if (curve.starts_with(kind.name)) value.unit = "share", value.meaning = std::string(kind.meaning);
  return value;
}

/// The curve `gain`: per run, the origin and the factor that turn the quality at a step into % of the headroom reached.
CurveValue gain(const ResultFile& file) {
  CurveValue value{gain_curve,
                   "%",
                   "share of the headroom reached at a step, 100 (quality - uniform_quality) / (best_quality - uniform_quality)",
                   {},
                   {}};
  const std::vector<double>&low = numbers(file, uniform), &high = numbers(file, best);
  for (std::size_t i = 0; i < file.runs; ++i) {
    value.origin.push_back(low[i]);
    value.factor.push_back(100 / (high[i] - low[i]));
  }
  return value;
}

}  // namespace

std::vector<std::string> curve_columns(const std::string& curve) {
  return is_gain(curve) ? std::vector<std::string>{uniform, best} : std::vector<std::string>{};
}

TableModel query_curve(const ResultFile& file, const TableQuery& q, const std::string& curve, std::size_t most_steps) {
  const TableModel table = query_table(file, q);
  const std::string name = curve.empty() ? curve_of(table.values[0].name, file) : curve;
  const std::string stored = is_gain(name) ? curve_name(CurveId::quality) : name;
  const ReadLimits limits = read_limits(q.max_seconds, q.max_memory);
  const std::vector<std::uint32_t> runs = runs_behind(table);
  const std::vector<ResultFile::Source> sources = file.sources.empty() ? std::vector<ResultFile::Source>{{"", file.digest, file.runs, ""}} : file.sources;
  std::vector<RunCurve> curves;
  std::uint32_t first = 0;  // row of the source's first run
  for (std::size_t f = 0; f < sources.size(); ++f) {
    const auto end = first + static_cast<std::uint32_t>(sources[f].runs);
    std::vector<std::uint32_t> own;
    for (const std::uint32_t run : runs)
      if (run >= first && run < end) own.push_back(run - first);
    for (RunCurve& curve : read_curve(q.paths[f], stored, own, sources[f].digest, limits)) {
      curve.run += first;
      curves.push_back(std::move(curve));
    }
    first = end;
  }
  return curve_table(table, is_gain(name) ? gain(file) : described(name), curves, most_steps);
}

// Runs `odrpo-bench table FILE.h5`: prints the suite's own table, or one with other rows, columns or values.

namespace {

constexpr std::size_t shown_steps = 6;

/// The difference that --power asks for, in the unit of the table's values. Failure `usage` for an invalid text, a table without baseline,
/// and values whose differences have no such unit.
double power_difference(std::string_view text, const TableModel& table) {
  const bool percent = text.ends_with('%');
  const double number = number_from<double>(text.substr(0, text.size() - percent)).value_or(0);
  if (!(number > 0) || !std::isfinite(number))
    fail(Exit::usage, "--power: \"{}\" is not a difference above 0, as 2% or 0.1", std::string(text));
  if (!table.spec.compares()) fail(Exit::usage, "--power: there is no baseline to differ from; --baseline names one");
  for (const TableValue& value : table.values) {
    if (value.share) fail(Exit::usage, "--power: \"{}\" is a share of runs, whose differences have no standard deviation", value.name);
    if (percent && !value.percent && value.unit != "%")
      fail(Exit::usage, "--power: \"{}\" is shown in {}: give the difference without %, or --compare percent", value.name,
           value.unit.empty() ? "a unit of its own" : value.unit);
  }
  return number;
}

/// A format of printed tables (--format): its word, and the function that prints it.
struct TableFormat {
  std::string_view word;
  void (*print)(const TableModel&, std::optional<Legend>, const TableOptions&);
  bool for_programs = false;  ///< has no legend, and shows every step of a curve
};
constexpr TableFormat table_formats[] = {
    {"text", [](const TableModel& table, std::optional<Legend> legend,
                const TableOptions&) { put(table_text(table, legend.value_or(Legend::brief), stdout_width())); }},
    {"md", [](const TableModel& table, std::optional<Legend> legend,
              const TableOptions&) { put(table_markdown(table, legend.value_or(Legend::full))); }},
    {"latex", [](const TableModel& table, std::optional<Legend> legend,
                 const TableOptions& o) { put(table_latex(table, legend.value_or(Legend::brief), o.siunitx)); }},
    {"csv", [](const TableModel& table, std::optional<Legend>, const TableOptions&) { put(table_csv(table)); }, true},
    {"json",
     [](const TableModel& table, std::optional<Legend>, const TableOptions&) {
       write_table_json(table, put);
       put("\n");
     },
     true},
};

}  // namespace

std::vector<std::string_view> table_format_words() { return words_in(table_formats); }

void print_next_steps(const std::vector<std::string>& paths) {
  const std::string file = joined(paths, file_word, " ");
  const std::string curves = "next: odrpo-bench plot curves " + file, report = "odrpo-bench report " + file;
  if (paths.size() > 1) return print_note(curves + " --rows file");
  if (curves.size() + report.size() + 2 <= page_width()) return print_note(curves + ", " + report);
  print_note(curves), print_note("      " + report);
}

int table(const TableOptions& o) {
  const std::string_view word = o.format.empty() ? table_formats[0].word : o.format;
  const auto format = std::find_if(std::begin(table_formats), std::end(table_formats), [&](const TableFormat& f) { return f.word == word; });
  if (format == std::end(table_formats))
    refuse_word(fmt::format("--format: there is no \"{}\"", shown(o.format)), o.format, table_format_words());
  std::optional<Legend> legend;
  if (!o.legend.empty()) legend = word_or_refuse("--legend", legend_words, o.legend);
  if (legend && format->for_programs) fail(Exit::usage, "--legend: {} has everything in its fields", word);
  if (o.siunitx && word != "latex") fail(Exit::usage, "--siunitx: only --format latex has numbers for it");
  if (!o.curve.empty() && !o.value.empty()) fail(Exit::usage, "--curve takes the place of --value; give one of them");
  const ResultFile file = read_table_file(o, curve_columns(o.curve));
  TableModel model = o.curve.empty() ? query_table(file, o) : query_curve(file, o, o.curve, format->for_programs ? every_step : shown_steps);
  if (!o.power.empty()) model.spec.power_difference = power_difference(o.power, model);
  format->print(model, legend, o);
  if (word == "text" && isatty(STDOUT_FILENO) != 0) print_next_steps(o.paths);
  return static_cast<int>(Exit::ok);
}

}  // namespace odrpo::app
