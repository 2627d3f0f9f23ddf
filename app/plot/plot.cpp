// Draws a figure of a result file, or prints its numbers: `odrpo-bench plot KIND FILE.h5`. Also chooses estimators' colours.
#include "app/plot/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>

#include "app/command.hpp"
#include "app/explain/explain_group.hpp"
#include "app/flags/estimator_flag.hpp"
#include "app/flags/flag_values.hpp"
#include "app/table/query.hpp"
#include "estimators/definition.hpp"
#include "estimators/estimator.hpp"
#include "estimators/level_formulas.hpp"
#include "kernels/math.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/output_file.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"
#include "results/export/json_text.hpp"
#include "results/figure/figure.hpp"
#include "results/scores/csv.hpp"
#include "results/scores/reading.hpp"
#include "train/level_curves.hpp"

namespace odrpo::app {

// Draws the weights that estimators give to the levels of a group.

/// Draws the figure `weights`: the weight w_k of each level k = 1..K, with a panel for each group of rewards. The groups are those of --rewards,
/// else four groups of 1000 rewards with the distributions of the paper's figure of the Gini weights. Failure `usage` for unknown words,
/// for estimators without weights, and if --levels is below a reward.
Figure weights_figure(const PlotOptions& o);

namespace {

constexpr int shape_size = 1000;  // rewards of a group that four_shapes() makes

struct RewardGroup {
  std::string title;
  std::vector<double> rewards;
};

/// A group of `shape_size` rewards 1..K. The share of level k is proportional to weight(k); counts are rounded so that they add up.
std::vector<double> rewards_with(int levels, const std::function<double(int level)>& weight) {
  double total = 0;
  for (int k = 1; k <= levels; ++k) total += weight(k);
  std::vector<double> rewards;
  double below = 0;
  for (int k = 1; k <= levels; ++k) {
    below += weight(k);
    const auto until = k == levels ? shape_size : static_cast<std::size_t>(std::lround(shape_size * below / total));
    while (rewards.size() < until) rewards.push_back(k);
  }
  return rewards;
}

/// Probability that a normal variable rounds to this level.
double normal_share(double level, double mean, double sd) {
  const auto below = [&](double x) { return 0.5 * std::erfc((mean - x) / (sd * std::sqrt(2.0))); };
  return below(level + 0.5) - below(level - 0.5);
}

std::vector<RewardGroup> four_shapes(int levels) {
  const double middle = 0.5 * (levels + 1), sd = 0.18 * levels;
  const auto normal = [=](int k) { return normal_share(k, middle, sd); };
  return {{fmt::format("normal, mean {:g}, sd {:g}", middle, sd), rewards_with(levels, normal)},
          {fmt::format("half a peak at {:g}, half uniform", 0.8 * levels),
           rewards_with(levels, [=](int k) { return 0.5 * normal_share(k, 0.8 * levels, 0.06 * levels) + 0.5 / levels; })},
          {fmt::format("normal, 10 % each at 1 and {}", levels),
           rewards_with(levels, [=](int k) { return 0.8 * normal(k) + (k == 1 || k == levels ? 0.1 : 0); })},
          {"uniform", rewards_with(levels, [](int) { return 1.0; })}};
}

std::vector<RewardGroup> groups_of(const PlotOptions& o, int levels) {
  if (o.rewards.empty()) return four_shapes(levels);
  std::vector<RewardGroup> groups;
  for (const std::string& list : o.rewards) groups.push_back({"rewards " + list, read_rewards({list})});
  return groups;
}

EstimatorConfig weighted_estimator(const std::string& word) {
  const EstimatorConfig config = read_estimator(word);
  if (config.form != Form::odrpo)
    fail(Exit::usage, "--estimator: \"{}\" has no weights; odrpo, odrpo-linear, odrpo-gini and odrpo-gini-median have",
         estimator_word(config));
  return config;
}

}  // namespace

Figure weights_figure(const PlotOptions& o) {
  double largest = 0;
  for (const std::string& list : o.rewards)
    for (const double reward : read_rewards({list})) largest = std::max(largest, reward);
  const int levels = o.levels > 0 ? o.levels : std::max(10, static_cast<int>(std::ceil(largest)));
  if (largest > levels) fail(Exit::usage, "--levels: {} is less than the largest reward, {:g}", levels, largest);
  if (levels > 1000) fail(Exit::usage, "--rewards: {} levels are more than 1000", levels);
  std::vector<EstimatorConfig> configs;
  std::vector<std::string> names;
  for (const std::string& word :
       o.estimators.empty() ? std::vector<std::string>{"odrpo-gini(grpo)", "odrpo-gini-median(grpo)"} : o.estimators) {
    configs.push_back(weighted_estimator(word));
    names.push_back(estimator_text(configs.back()));
    configs.back().formula_levels = levels;
    if (const auto why = formula_refusal(configs.back(), levels)) fail(Exit::usage, "--estimator: {}", *why);
  }
  const std::vector<SeriesStyle> styles = series_styles(names);
  Figure figure{"weight of each level; grey: share of the rewards at it", {}};
  for (const RewardGroup& group : groups_of(o, levels)) {
    FigurePanel panel;
    panel.title = group.title;
    panel.x_label = "level k";
    panel.y_label = "weight w_k";
    panel.background_label = "share of rewards";
    panel.y_from_zero = true;
    if (levels <= 12)
      for (int k = 1; k <= levels; ++k) panel.x_ticks.push_back(k);
    const auto count = static_cast<int>(group.rewards.size());
    for (int k = 1; k <= levels; ++k) {
      const auto here = std::count_if(group.rewards.begin(), group.rewards.end(), [&](double r) { return std::lround(r) == k; });
      panel.background.push_back({static_cast<double>(k), static_cast<double>(here) / count, undefined, undefined});
    }
    for (std::size_t e = 0; e < configs.size(); ++e) {
      const double median = weight_median(configs[e], group.rewards, undefined);
      FigureSeries series{names[e], styles[e], {}};
      for (int k = 1; k <= levels; ++k)
        series.points.push_back(
            {static_cast<double>(k), weight_of_level(configs[e], k, count_from(group.rewards, k), count, median), undefined, undefined});
      panel.series.push_back(std::move(series));
    }
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

namespace {

constexpr double column_width = 3.25, page_width = 5.5;  // widths of a column and of the page's text, in inches, as most conferences have them
constexpr std::size_t most_steps_drawn = 400;                  // most steps that a curve shows; a printed column could not show more

/// True if a figure of lines shows differences: --baseline asks for them.
bool draws_differences(const PlotOptions& o) { return !o.baseline.empty(); }

Figure curves(const PlotOptions& o) {
  const ResultFile file = read_table_file(o, curve_columns(o.curve), curve_columns(gain_curve));
  const TableModel table = query_curve(file, o, o.curve, o.data || o.json ? every_step : most_steps_drawn);
  return lines_figure({&table, 1}, series_styles(table.rows), true, draws_differences(o));
}

/// Draws the curves of levels ([record] levels): for each kind a panel of each row, in which each level is a line.
Figure levels(const PlotOptions& o) {
  const ResultFile file = read_table_file(o);
  std::vector<LevelTables> kinds;
  for (const LevelCurveKind& kind : level_curve_kinds) {
    kinds.push_back({std::string(kind.name) + "k", {}});
    for (int k = 2; k <= most_levels; ++k) try {
        kinds.back().level.push_back(query_curve(file, o, std::string(kind.name) + std::to_string(k), o.data || o.json ? every_step : most_steps_drawn));
      } catch (const Failure& failure) {
        if (failure.code != Exit::usage) throw;
        if (k == 2 && kinds.size() == 1) fail(Exit::usage, "{} has no curves of levels; a suite with `levels = 1` in [record] has", printable_line(o.path()));
        break;
      }
  }
  return levels_figure(kinds);
}

/// Draws the table's values, or those of --value, over the columns of the table (votes), side by side.
Figure votes(const PlotOptions& o) {
  std::vector<std::string> more = value_names(o.value);
  PlotOptions first = o;
  if (!more.empty()) first.value = {more[0]}, more.erase(more.begin());
  const ResultFile file = read_table_file(first, more);
  std::vector<TableModel> tables = {query_table(file, first)};
  for (const std::string& value : more) tables.push_back(with_value(tables[0], file, value));
  return lines_figure(tables, series_styles(tables[0].rows), false, draws_differences(o));
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

struct PlotKind {
  const char* word;
  Figure (*make)(const PlotOptions&);
  bool of_file = true;
};
constexpr PlotKind plot_rows[] = {{"curves", curves},   {"votes", votes},         {"levels", levels},       {"bars", bars},       {"forest", forest},
                          {"heatmap", heatmap}, {"histogram", histogram}, {"profile", profile}, {"weights", weights_figure, false}};

const PlotKind& kind_of(const PlotOptions& o) {
  for (const PlotKind& kind : plot_rows)
    if (o.kind == kind.word) return kind;
  refuse_word(fmt::format("there is no figure \"{}\"", printable_line(o.kind)), o.kind, words_in(plot_rows));
}

double inches(const char* flag, const std::string& text, double least, double most) {
  const auto value = number_from(text, least, most);
  if (!value) fail(Exit::usage, "{}: \"{}\" is not a number of inches in {}..{}", flag, text, least, most);
  return *value;
}

/// Failure `usage` for flags that have no effect on this kind of figure.
void check_flags(const PlotOptions& o, const PlotKind& kind) {
  const bool weights = !kind.of_file;
  if (kind.of_file && o.paths.empty()) fail(Exit::usage, "FILE.h5 is required: the figure {} is of a result file", kind.word);
  if (weights && !o.paths.empty()) fail(Exit::usage, "the figure weights is of no file; --rewards and --estimator say what it shows");
  const bool of_levels = kind.make == levels, of_curves = kind.make == curves, of_lines = of_curves || kind.make == votes, of_differences = kind.make == forest || (of_lines && draws_differences(o));
  const struct {
    const char* name;
    bool set, has_effect;
  } flags[] = {{"--curve", !o.curve.empty(), of_curves},
               {"--value", !o.value.empty(), !of_curves && !of_levels && !weights},
               {"--baseline", !o.baseline.empty(), of_differences},
               {"--compare", !o.compare.empty(), of_differences && !of_curves},
               {"--correction", !o.correction.empty(), kind.make == forest},
               {"--rows", !o.rows.empty(), !weights},
               {"--columns", !o.columns.empty(), !weights},
               {"--best", !o.best.empty(), !weights},
               {"--where", !o.where.empty(), !weights},
               {"--label", !o.labels.empty(), !weights},
               {"--tune-seeds", o.tune_seeds >= 0, !weights},
               {"--max-seconds", o.max_seconds > 0, !weights},
               {"--max-memory", o.max_memory > 0, !weights},
               {"--rewards", !o.rewards.empty(), weights},
               {"--estimator", !o.estimators.empty(), weights},
               {"--levels", o.levels > 0, weights}};
  for (const auto& flag : flags)
    if (flag.set && !flag.has_effect) fail(Exit::usage, "{} has no effect on the figure {}", flag.name, kind.word);
}

}  // namespace

std::vector<std::string_view> plot_kinds() { return words_in(plot_rows); }

int plot(const PlotOptions& o) {
  const PlotKind& kind = kind_of(o);
  check_flags(o, kind);
  const bool numbers = o.data || o.json;
  const char* flag = o.json ? "--json" : "--data";
  if (numbers && (!o.width.empty() || !o.height.empty())) fail(Exit::usage, "--width and --height have no effect on {}", flag);
  if (numbers)
    for (const auto& form : figure_formats)
      if (o.output.ends_with("." + std::string(form.word)))
        fail(Exit::usage, "-o: {} writes {}, and \"{}\" is the name of a figure", flag, o.json ? "JSON" : "CSV", o.output);
  const std::string output = !o.output.empty() || numbers ? o.output : fmt::format("{}.svg", kind.word);
  const FigureFormat format = numbers ? FigureFormat::svg : figure_format("-o", output);
  FigureSize size;
  if (!o.width.empty()) size.width = inches("--width", o.width, 2, 20);
  if (!o.height.empty()) size.height = inches("--height", o.height, 1, 30);
  if (!output.empty() && o.paths.empty()) check_output(output, "");
  for (const std::string& path : o.paths)
    if (!output.empty()) check_output(output, path);
  const Figure figure = kind.make(o);
  if (kind.make == bars && !numbers) check_bars(figure);
  if (o.width.empty()) size.width = figure.panels.size() > 1 ? page_width : column_width;
  const std::string bytes = o.data ? figure_csv(figure) : o.json ? figure_json(figure) : draw_figure(figure, format, size);
  if (output.empty()) {
    put(bytes);
    return static_cast<int>(Exit::ok);
  }
  write_output(output, bytes);
  print_note(fmt::format("{}: {}", printable_line(output), figure.caption));
  return static_cast<int>(Exit::ok);
}

// Chooses the colour and dash of an estimator by its form, weight and norm.

namespace {

// names for the numbers of colours and dashes in SeriesStyle
constexpr int black = 0, blue = 1, vermilion = 2, green = 3, purple = 4, orange = 5, sky = 6;
constexpr int solid = 0, dashed = 1, dotted = 2, dash_dotted = 3, finely_dotted = 4;

int colour_of_weight(Weight weight) {
  switch (weight) {
    case Weight::uniform: return orange;
    case Weight::linear: return sky;
    case Weight::gini: return blue;
    case Weight::gini_median: return vermilion;
    case Weight::root: return green;
  }
  return green;
}

SeriesStyle style_of(const EstimatorConfig& config) {
  if (config.form == Form::odrpo) {
    const int colour = colour_of_weight(config.weight);
    return {colour, config.norm == Norm::grpo ? solid : dashed, colour};
  }
  if (config.form == Form::odrpo_bitwise) return {green, config.norm == Norm::grpo ? solid : dashed, green};
  switch (config.form) {
    case Form::grpo: return {black, solid, black};
    case Form::maxrl: return {black, dashed, black};
    case Form::reinforce: return {black, dotted, black};
    case Form::rloo: return {black, dash_dotted, black};
    case Form::mc_grpo: return {black, finely_dotted, black};
    case Form::rank_grpo: return {purple, solid, purple};
    case Form::convex_reinforce: return {green, dotted, green};
    case Form::max_at_k: return {purple, dash_dotted, purple};
    case Form::max_at_k_centred: return {purple, finely_dotted, purple};
    case Form::gopo: return {purple, dashed, purple};
    case Form::arena: return {purple, dotted, purple};
    case Form::dgae: return {orange, dash_dotted, orange};
    case Form::qae: return {sky, dash_dotted, sky};
    case Form::grpo_passk: return {green, dash_dotted, green};
    case Form::corpo: return {sky, dotted, sky};
    case Form::opo: return {orange, dotted, orange};
    case Form::bnpo: return {vermilion, dash_dotted, vermilion};
    case Form::shrunk: return {sky, finely_dotted, sky};
    case Form::odrpo:
    case Form::odrpo_bitwise: break;
  }
  return {};
}

}  // namespace

std::vector<SeriesStyle> series_styles(const std::vector<std::string>& names) {
  std::vector<SeriesStyle> wanted;
  int next = 0;
  for (const std::string& name : names) {
    const auto config = parse_estimator(name);
    wanted.push_back(config ? style_of(*config) : SeriesStyle{next % series_colours, 0, next % series_symbols});
    if (!config) ++next;
  }
  return distinct_styles(std::move(wanted));
}

FigureFormat figure_format(std::string_view flag, const std::string& path) {
  for (const auto& format : figure_formats)
    if (path.ends_with("." + std::string(format.word))) return format.value;
  fail(Exit::usage, "{}: \"{}\" does not end in .svg, .pdf or .png", flag, path);
}

}  // namespace odrpo::app
