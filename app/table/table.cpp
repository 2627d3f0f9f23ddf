// `odrpo-bench table FILE.h5`: the suite's own table, or another cut through the same runs.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <string_view>

#include "app/table/query.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/terminal.hpp"
#include "results/export/table_json.hpp"

namespace odrpo::app {
namespace {

constexpr std::size_t shown_steps = 6;

/// The difference that --power means, in the unit that the values of the table show. Failure usage when it is none, or cannot be for one of
/// the values.
double power_difference(std::string_view text, const TableModel& table) {
  const bool percent = text.ends_with('%');
  const std::string_view digits = percent ? text.substr(0, text.size() - 1) : text;
  double number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || !(number > 0) || !std::isfinite(number))
    throw Failure(Exit::usage, fmt::format("--power: \"{}\" is not a difference above 0, as 2% or 0.1", printable_line(std::string(text))));
  if (!table.spec.compares()) throw Failure(Exit::usage, "--power: there is no baseline to differ from; --baseline names one");
  for (const TableValue& value : table.values) {
    if (value.share)
      throw Failure(Exit::usage,
                    fmt::format("--power: \"{}\" is a share of runs, whose differences have no standard deviation", value.name));
    if (percent && !value.percent && value.unit != "%")
      throw Failure(Exit::usage, fmt::format("--power: \"{}\" is shown in {}: give the difference without %, or --compare percent",
                                             value.name, value.unit.empty() ? "a unit of its own" : value.unit));
  }
  return number;
}

}  // namespace

int table(const TableOptions& o) {
  constexpr std::string_view formats[] = {"text", "md", "latex", "csv", "json"};
  const std::string format = o.format.empty() ? "text" : o.format;
  if (std::find(std::begin(formats), std::end(formats), format) == std::end(formats))
    throw Failure(Exit::usage, fmt::format("--format: \"{}\" is not one of {}", o.format, fmt::join(formats, ", ")));
  const auto legend = find_word(std::span<const Word<Legend>>(legend_words), o.legend);
  if (!o.legend.empty() && !legend) throw Failure(Exit::usage, "--legend: \"" + o.legend + "\" is not one of none, short, full");
  if (legend && (format == "csv" || format == "json")) throw Failure(Exit::usage, "--legend: " + format + " has everything in its fields");
  if (o.siunitx && format != "latex") throw Failure(Exit::usage, "--siunitx: only --format latex has numbers for it");
  if (!o.curve.empty() && !o.value.empty()) throw Failure(Exit::usage, "--curve takes the place of --value; give one of them");
  const bool for_programs = format == "csv" || format == "json";
  const ResultFile file = read_table_file(o, curve_columns(o.curve));
  TableModel model = o.curve.empty() ? query_table(file, o) : query_curve(file, o, o.curve, for_programs ? every_step : shown_steps);
  if (!o.power.empty()) model.spec.power_difference = power_difference(o.power, model);
  if (format == "text") put(table_text(model, legend.value_or(Legend::full), stdout_width()));
  else if (format == "md") put(table_markdown(model, legend.value_or(Legend::full)));
  else if (format == "latex") put(table_latex(model, legend.value_or(Legend::brief), o.siunitx));
  else if (format == "csv") put(table_csv(model));
  else {
    write_table_json(model, put);
    put("\n");
  }
  return static_cast<int>(Exit::ok);
}

}  // namespace odrpo::app
