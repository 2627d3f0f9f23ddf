// Writes one HTML page about a result file (the result in a sentence, figures, tables, settings, commands that repeat it): `odrpo-bench report FILE.h5`.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include "app/plot/plot.hpp"
#include "app/run/provenance.hpp"
#include "app/table/query.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/output_file.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"
#include "results/figure/figure.hpp"
#include "results/page/html_page.hpp"
#include "results/scores/csv.hpp"
#include "results/store/store.hpp"

namespace odrpo::app {

// Adds figures to the page: differences from the baseline, values over the table's columns, learning curves.

/// Draws the figures that the page's tables allow. If one cannot be drawn, for instance without gnuplot, adds a note that says why. `q`
/// = the flags of the first table. `file` holds the columns curve_columns(gain_curve), if the file on disk has them.
void add_figures(HtmlPage& page, const ResultFile& file, const TableQuery& q);

namespace {

constexpr std::size_t most_steps_shown = 100;                           // most recorded steps that a curve shows; a page could not show more
constexpr std::size_t fewest_steps = 5;                           // fewest recorded steps of a curve; with fewer, it is not drawn
constexpr std::size_t most_stacked = 3;                           // most panels that stand one below the other; more stand side by side
constexpr double stacked = 3.6, side_by_side = 7.2, zoom = 1.3;   // widths in inches, the first for phones; zoom enlarges text from 10 to 13 pixels

bool has_numbers(const std::vector<std::string>& names) {
  return names.size() > 1 && std::all_of(names.begin(), names.end(), [](const std::string& name) { return number_of(name).has_value(); });
}

}  // namespace

void add_figures(HtmlPage& page, const ResultFile& file, const TableQuery& q) {
  bool can_draw = true;
  const auto add = [&](const std::string& title, const std::function<Figure()>& make) {
    if (!can_draw) return;
    try {
      const Figure figure = make();
      const bool many = figure.panels.size() > most_stacked;
      const std::string svg = draw_figure(figure, FigureFormat::svg, {many ? side_by_side : stacked, 0});
      page.figures.push_back({title, figure.caption, inline_svg(svg, fmt::format("f{}-", page.figures.size() + 1), title, zoom), many});
    } catch (const Failure& failure) {
      can_draw = failure.code != Exit::io;  // without gnuplot, no figure can be drawn
      page.figure_notes.push_back(can_draw ? fmt::format("{}: not drawn: {}", title, failure.what()) : failure.what());
    }
  };
  const auto styles = [](const TableModel& table) { return series_styles(table.rows); };
  for (const TableModel& table : page.tables) {
    const bool several = table.spec.over_values();
    if (table.spec.compares())
      add(fmt::format("{}: differences from the baseline", several ? "All values" : value_text(table.values[0])),
          [&] { return forest_figure(table, styles(table)); });
    if (several) continue;
    add(fmt::format("{} by {}", value_text(table.values[0]), table.spec.columns), [&] {
      if (has_numbers(table.columns)) return lines_figure({&table, 1}, styles(table), false);
      try {
        const Figure bars = bars_figure(table, styles(table));
        check_bars(bars);
        return bars;
      } catch (const Failure&) {  // bars that would look alike
        return heatmap_figure(table);
      }
    });
  }
  add("Learning curves", [&] {
    const TableModel table = query_curve(file, q, "", most_steps_shown);
    const Figure figure = lines_figure({&table, 1}, styles(table), true);
    std::size_t steps = 0;
    for (const FigurePanel& panel : figure.panels)
      for (const FigureSeries& series : panel.series) steps = std::max(steps, series.points.size());
    if (steps < fewest_steps) fail(Exit::usage, "a run has {} recorded steps, and a curve needs {}", steps, fewest_steps);
    return figure;
  });
}

namespace {

/// The tables that the flags choose: a table for each value of --value, or a single one if its rows or columns are the values.
std::vector<TableModel> chosen_tables(const ResultFile& file, const TableQuery& q, const std::vector<std::string>& values) {
  std::vector<TableModel> tables;
  const std::string* stored = file.provenance_text("table");
  TableSpec spec = parse_table_spec(stored ? *stored : "");
  if (!q.rows.empty()) spec.rows = q.rows;
  if (!q.columns.empty()) spec.columns = q.columns;
  if (values.size() < 2 || spec.over_values()) {
    tables.push_back(query_table(file, q));
    return tables;
  }
  for (const std::string& value : values) {
    TableQuery one = q;
    one.value = {value};
    tables.push_back(query_table(file, one));
  }
  return tables;
}

std::vector<std::pair<std::string, std::string>> facts_of(const ResultFile& file) {
  std::vector<std::pair<std::string, std::string>> facts;
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) facts.emplace_back(name, text);
  };
  const auto stored = [&](const char* name) {
    const std::string* text = file.provenance_text(name);
    return text ? *text : "";
  };
  add("result digest", file.digest);
  add("runs", fmt::format("{}{}", file.runs, file.failed > 0 ? fmt::format(", {} of them failed", file.failed) : ""));
  add("program", "odrpo-bench " + file.version);
  for (const auto& [name, label] : {std::pair{"revision", "revision"},
                                    {"compiler", "compiler"},
                                    {"cpu", "CPU"},
                                    {"isa", "instruction set"},
                                    {"gpu", "GPU"},
                                    {"device", "device"},
                                    {"host", "host"},
                                    {"jobs", "jobs"}})
    add(label, stored(name));
  return facts;
}

/// Ids of the first failed runs, and why they failed. `file` must hold the column `error`.
std::vector<std::pair<std::string, std::string>> failures_of(const ResultFile& file) {
  std::vector<std::pair<std::string, std::string>> failures;
  const Column* reason = file.column("error");
  for (std::size_t run = 0; run < file.runs && failures.size() < file.failed_ids.size(); ++run)
    if (!file.ok(run)) failures.emplace_back(file.failed_ids[failures.size()], reason ? reason->text(run) : "");
  return failures;
}

HtmlPage page_of(const TableQuery& q) {
  const std::vector<std::string> values = value_names(q.value);
  const ResultFile file = read_results(
      q.path(), [](const ResultFile&) { return std::vector<std::string>{"error"}; }, read_limits(q.max_seconds, q.max_memory));
  HtmlPage page;
  page.suite = file.suite;
  page.program = "odrpo-bench " + file.version;
  page.runs = file.runs;
  page.failed = file.failed;
  page.commands = reproduction_commands(file, q.path());
  page.remarks.push_back(
      "The last command says whether the results are equal: their digest covers every final value and every curve, not times.");
  const std::string* suite = file.provenance_text("suite");
  const std::string* all = file.provenance_text("resolved");
  const auto settings_say = [&](const char* part) { return all && all->find(part) != std::string::npos; };
  if (settings_say(".base = \"toy-lm\""))
    page.remarks.push_back("The toy language model gives equal results on one build and kind of processor or device alone.");
  if (settings_say(".scores = \""))
    page.remarks.push_back("The scores of a judge that the suite names are not in the result file: they must lie where the suite says.");
  page.facts = facts_of(file);
  if (file.failed < file.runs) {
    TableQuery first = q;
    if (values.size() > 1) first.value = {values[0]};
    const ResultFile numbers = read_table_file(first, values, curve_columns(gain_curve));
    if (numbers.digest != file.digest) fail(Exit::io, "'{}' was replaced while it was read", q.path());
    page.tables = chosen_tables(numbers, q, values);
    add_figures(page, numbers, first);
  }
  if (suite) page.documents.emplace_back("The suite, as run read it", *suite);
  if (all) page.documents.emplace_back("Every setting, written out", *all);
  page.failures = failures_of(file);
  return page;
}

/// The default output: NAME.html in the folder of NAME.h5. Failure `io` if that file exists and `report` did not write it.
std::string page_path(const std::string& input) {
  std::filesystem::path path(input);
  path.replace_extension(".html");
  std::ifstream old(path, std::ios::binary);
  std::string begin(512, '\0');
  old.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(std::max<std::streamsize>(old.gcount(), 0)));
  if (!begin.empty() && !is_html_page(begin))
    fail(Exit::io, "'{}' is not a page of odrpo-bench, and stays; choose another file with -o", path.string());
  return path.string();
}

}  // namespace

int report(const ReportOptions& o) {
  const std::string output = o.output.empty() ? page_path(o.path()) : o.output;
  check_output(output, o.path());
  const HtmlPage page = page_of(o);
  const std::string html = html_page(page);
  write_output(output, html);
  for (const std::string& note : page.figure_notes) print_note("note: " + note);
  print_note(fmt::format("wrote {}: {}", output, bytes_text(static_cast<double>(html.size()))));
  return static_cast<int>(Exit::ok);
}

}  // namespace odrpo::app
