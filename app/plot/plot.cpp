// `odrpo-bench plot KIND FILE.h5`: a figure of a result file, or its numbers.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "app/plot/figure_format.hpp"
#include "app/output_file.hpp"
#include "app/plot/level_weights.hpp"
#include "app/printable.hpp"
#include "app/plot/series_style.hpp"
#include "app/table/query.hpp"
#include "app/usage.hpp"
#include "results/scores/csv.hpp"
#include "results/figure/figure.hpp"
#include "kernels/shared/suggest.hpp"

namespace odrpo::app {
namespace {

constexpr double column_width = 3.25, page_width = 5.5;  // inches, as most conferences have them
constexpr std::size_t most_steps = 400;                  // of a curve: more than the dots of a printed column

Figure curves(const PlotOptions& o) {
  const ResultFile file = read_table_file(o, curve_columns(o.curve), curve_columns(gain_curve));
  const TableModel table = query_curve(file, o, o.curve, o.data ? every_step : most_steps);
  return lines_figure({&table, 1}, series_styles(table.rows), true);
}

/// The table's value and the step time, with the judge's calls where the file models them, over the columns (votes).
Figure votes(const PlotOptions& o) {
  if (!o.value.empty()) {
    const TableModel table = query_table(read_table_file(o), o);
    return lines_figure({&table, 1}, series_styles(table.rows), false);
  }
  const ResultFile file = read_table_file(o, {"seconds"}, {"modelled-seconds"});
  const TableModel table = query_table(file, o);
  const bool modelled = file.column("modelled_seconds") != nullptr;
  const TableModel tables[] = {table, with_value(table, file, modelled ? "modelled-seconds" : "seconds")};
  return lines_figure(tables, series_styles(table.rows), false);
}

Figure bars(const PlotOptions& o) {
  const TableModel table = query_table(read_table_file(o), o);
  return bars_figure(table, series_styles(table.rows));
}
Figure forest(const PlotOptions& o) {
  const TableModel table = query_table(read_table_file(o), o);
  return forest_figure(table, series_styles(table.rows));
}
Figure heatmap(const PlotOptions& o) { return heatmap_figure(query_table(read_table_file(o), o)); }
Figure histogram(const PlotOptions& o) {
  const TableModel table = query_table(read_table_file(o), o);
  return histogram_figure(table, series_styles(table.rows));
}
Figure profile(const PlotOptions& o) {
  const TableModel table = query_table(read_table_file(o), o);
  return profile_figure(table, series_styles(table.rows));
}

struct Kind {
  const char* word;
  Figure (*make)(const PlotOptions&);
  bool of_file = true;
};
constexpr Kind kinds[] = {{"curves", curves},   {"votes", votes},         {"bars", bars},       {"forest", forest},
                          {"heatmap", heatmap}, {"histogram", histogram}, {"profile", profile}, {"weights", weights_figure, false}};

std::vector<std::string_view> kind_words() {
  std::vector<std::string_view> words;
  for (const Kind& kind : kinds) words.emplace_back(kind.word);
  return words;
}

const Kind& kind_of(const PlotOptions& o) {
  for (const Kind& kind : kinds)
    if (o.kind == kind.word) return kind;
  throw Failure(Exit::usage, fmt::format("there is no figure \"{}\" (it is one of {}){}", printable_line(o.kind), plot_kinds(),
                                         did_you_mean(o.kind, kind_words())));
}

double inches(const char* flag, const std::string& text, double least, double most) {
  const auto value = number_of(text);
  if (!value || !(*value >= least && *value <= most))
    throw Failure(Exit::usage, fmt::format("{}: \"{}\" is not a number of inches in {}..{}", flag, printable_line(text), least, most));
  return *value;
}

/// Flags that say nothing about this kind of figure.
void check_flags(const PlotOptions& o, const Kind& kind) {
  const bool weights = !kind.of_file;
  if (kind.of_file && o.path.empty())
    throw Failure(Exit::usage, fmt::format("FILE.h5 is required: the figure {} is of a result file", kind.word));
  if (weights && !o.path.empty())
    throw Failure(Exit::usage, "the figure weights is of no file; --rewards and --estimator say what it shows");
  const bool of_curves = kind.make == curves, of_differences = kind.make == forest;
  const struct {
    const char* name;
    bool set, has_effect;
  } flags[] = {{"--curve", !o.curve.empty(), of_curves},
               {"--value", !o.value.empty(), !of_curves && !weights},
               {"--baseline", !o.baseline.empty(), of_differences},
               {"--compare", !o.compare.empty(), of_differences},
               {"--correction", !o.correction.empty(), of_differences},
               {"--rows", !o.rows.empty(), !weights},
               {"--columns", !o.columns.empty(), !weights},
               {"--best", !o.best.empty(), !weights},
               {"--where", !o.where.empty(), !weights},
               {"--tune-seeds", o.tune_seeds >= 0, !weights},
               {"--max-seconds", o.max_seconds > 0, !weights},
               {"--max-memory", o.max_memory > 0, !weights},
               {"--rewards", !o.rewards.empty(), weights},
               {"--estimator", !o.estimators.empty(), weights},
               {"--levels", o.levels > 0, weights}};
  for (const auto& flag : flags)
    if (flag.set && !flag.has_effect) throw Failure(Exit::usage, fmt::format("{} has no effect on the figure {}", flag.name, kind.word));
}

}  // namespace

std::string plot_kinds() { return one_of(kind_words()); }

int plot(const PlotOptions& o) {
  const Kind& kind = kind_of(o);
  check_flags(o, kind);
  if (o.data && (!o.width.empty() || !o.height.empty())) throw Failure(Exit::usage, "--width and --height have no effect on --data");
  if (o.data)
    for (const auto& form : figure_formats)
      if (o.output.ends_with("." + std::string(form.word)))
        throw Failure(Exit::usage, fmt::format("-o: --data writes CSV, and \"{}\" is the name of a figure", printable_line(o.output)));
  const std::string output = !o.output.empty() || o.data ? o.output : fmt::format("{}.svg", kind.word);
  const FigureFormat format = o.data ? FigureFormat::svg : figure_format("-o", output);
  FigureSize size;
  if (!o.width.empty()) size.width = inches("--width", o.width, 2, 20);
  if (!o.height.empty()) size.height = inches("--height", o.height, 1, 30);
  if (!output.empty()) check_output(output, o.path);
  const Figure figure = kind.make(o);
  if (o.width.empty()) size.width = figure.panels.size() > 1 ? page_width : column_width;
  const std::string bytes = o.data ? figure_csv(figure) : draw_figure(figure, format, size);
  if (output.empty()) {
    put(bytes);
    return static_cast<int>(Exit::ok);
  }
  write_output(output, bytes);
  print_note(fmt::format("{}: {}", printable_line(output), figure.caption));
  return static_cast<int>(Exit::ok);
}

}  // namespace odrpo::app
