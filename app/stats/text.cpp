// Writes `stats` as text: sentences on method and warnings, then tables of at most 80 columns.
#include "kernels/system/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "app/stats/stats_report.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/terminal.hpp"

namespace odrpo::app {
namespace {

constexpr std::size_t widest_cell = 44;  // so that a column of numbers fits in the same line

/// The name of a cell, at most `most` characters long. A longer name loses its middle, since names differ at their ends.
std::string cell_name(const std::vector<std::string>& texts, std::size_t most = widest_cell) {
  return shortened(printable_line(joined(texts)), most);
}

/// How a column writes its numbers: with so many decimals that the median half-width of its intervals has two digits. Unset = with five
/// significant digits, if these decimals would make numbers too long.
struct Style {
  std::optional<int> decimals;
};

Style style_of(const std::vector<Estimate>& estimates) {
  std::vector<double> halves;
  double largest = 0;
  for (const Estimate& e : estimates) {
    const double half = (e.hi - e.lo) / 2;
    if (half > 1e-12 * std::fabs(e.value) && std::isfinite(half)) halves.push_back(half);
    if (std::isfinite(e.value)) largest = std::max(largest, std::fabs(e.value));
  }
  if (halves.empty() && largest > 0) halves.push_back(largest / 100);  // without intervals, numbers get three to four digits
  if (halves.empty()) return {1};
  std::nth_element(halves.begin(), halves.begin() + static_cast<std::ptrdiff_t>(halves.size() / 2), halves.end());
  const int decimals = static_cast<int>(std::ceil(1 - std::log10(halves[halves.size() / 2])));
  if (decimals > 8 || largest >= 1e9) return {std::nullopt};
  return {std::max(decimals, 0)};
}

std::string number(double value, Style style) {
  if (!std::isfinite(value)) return "n/a";  // undefined, or an infinite end of an interval
  return style.decimals ? fixed_text(value, *style.decimals) : fmt::format("{:.5g}", value + 0.0);
}

std::string interval_text(double lo, double hi, Style style) {
  return std::isnan(lo) ? "[n/a]" : fmt::format("[{}, {}]", number(lo, style), number(hi, style));
}

std::string estimate_text(const Estimate& e, Style style) {
  return std::isnan(e.value) ? "n/a" : number(e.value, style) + ' ' + interval_text(e.lo, e.hi, style);
}

TextColumn estimate_column(std::string heading, const std::vector<Estimate>& estimates, std::optional<Style> style = {}) {
  TextColumn column{std::move(heading), {}};
  const Style own = style ? *style : style_of(estimates);
  for (const Estimate& e : estimates) column.rows.push_back(estimate_text(e, own));
  return column;
}

std::string p_text(double p) { return std::isnan(p) ? "n/a" : p < 0.0005 ? "<.001" : fmt::format("{:.3f}", p); }

template <class List, class Text>
std::vector<std::string> texts(const List& list, Text text) {
  std::vector<std::string> out;
  for (const auto& item : list) out.push_back(text(item));
  return out;
}

template <class List, class Member>
std::vector<Estimate> estimates(const List& list, Member member) {
  std::vector<Estimate> out;
  for (const auto& item : list) out.push_back(member(item));
  return out;
}

std::string cells_text(const StatsReport& report) {
  const auto& cells = report.statistics.cells;
  const bool tasks = report.runs.tasks.size() > 1;
  std::vector<TextColumn> columns = {{cell_name(report.columns.cell), texts(cells, [](const auto& c) { return cell_name(c.name); })},
                                     {"n", texts(cells, [](const auto& c) { return std::to_string(c.units); })}};
  if (tasks) {
    columns.push_back({"runs", texts(cells, [](const auto& c) { return std::to_string(c.runs); })});
    columns.push_back({"tasks", texts(cells, [](const auto& c) { return std::to_string(c.tasks); })});
  }
  columns.push_back(estimate_column("mean", estimates(cells, [](const auto& c) { return c.mean; })));
  columns.push_back(estimate_column("sd", estimates(cells, [](const auto& c) { return c.sd; })));
  columns.push_back(estimate_column(tasks ? "median of tasks" : "median", estimates(cells, [](const auto& c) { return c.median; })));
  columns.push_back(estimate_column("IQM", estimates(cells, [](const auto& c) { return c.iqm; })));
  if (report.options.gamma)
    columns.push_back(
        estimate_column(fmt::format("gap to {}", *report.options.gamma), estimates(cells, [](const auto& c) { return c.optimality_gap; })));
  return '\n' + side_by_side(columns, page_width());
}

/// A table of a performance profile: a row for each cell, and a column for each threshold.
std::string profile_text(const StatsReport& report, const char* what, std::vector<Estimate> CellStatistics::*profile) {
  const auto& cells = report.statistics.cells;
  std::vector<TextColumn> columns = {{cell_name(report.columns.cell), texts(cells, [](const auto& c) { return cell_name(c.name); })}};
  for (std::size_t k = 0; k < report.options.thresholds.size(); ++k)
    columns.push_back(estimate_column(fmt::format("> {}", report.options.thresholds[k]),
                                      estimates(cells, [&](const auto& c) { return (c.*profile)[k]; }), Style{2}));
  return fmt::format("\n{}\n", what) + side_by_side(columns, page_width());
}

Estimate mean_of(const Difference& d, const StatsReport& report) {
  const bool t = report.options.interval == IntervalKind::student || report.chose();
  return {d.student.mean, t ? d.student.lo : d.bootstrap.lo, t ? d.student.hi : d.bootstrap.hi};
}

std::string differences_text(const StatsReport& report) {
  const auto& list = report.statistics.differences;
  if (list.empty()) return "";
  const auto& cells = report.statistics.cells;
  const auto means = estimates(list, [&](const Difference& d) { return mean_of(d, report); });
  const Style style = style_of(means);
  std::vector<TextColumn> columns = {
      {cell_name(report.columns.cell), texts(list, [&](const auto& d) { return cell_name(cells[d.cell].name); })},
      {"pairs", texts(list, [](const auto& d) { return std::to_string(d.student.n); })},
      {columns_of(report.baseline) <= 20 ? "- " + cell_name({report.baseline}) : "- baseline", texts(list,
                                                [&](const Difference& d) {
                                                  return with_sign(d.student.mean, estimate_text(mean_of(d, report), style)) +
                                                         (d.p_holm < star_level ? " *" : "");
                                                })},
      {"p", texts(list, [](const auto& d) { return p_text(d.p); })},
      {"p Holm", texts(list, [](const auto& d) { return p_text(d.p_holm); })}};
  columns.push_back(estimate_column("P(row > baseline)", estimates(list, [](const auto& d) { return d.improvement; }), Style{2}));
  return '\n' + side_by_side(columns, page_width());
}

std::string contrasts_text(const StatsReport& report) {
  const auto& list = report.statistics.contrasts;
  if (list.empty()) return "";
  const auto& cells = report.statistics.cells;
  const auto without_column = [&](std::vector<std::string> name) {
    name.erase(name.begin() + static_cast<std::ptrdiff_t>(report.options.contrast->column));
    return cell_name(name);
  };
  const Style style = style_of(estimates(list, [](const Difference& d) { return Estimate{d.student.mean, d.student.lo, d.student.hi}; }));
  std::vector<TextColumn> columns = {
      {without_column(report.columns.cell), texts(list, [&](const auto& d) { return without_column(cells[d.cell].name); })},
      {"pairs", texts(list, [](const auto& d) { return std::to_string(d.student.n); })},
      {"difference", texts(list,
                           [&](const Difference& d) {
                             return with_sign(d.student.mean, number(d.student.mean, style)) + (d.p_holm < star_level ? " *" : "");
                           })},
      {"t", texts(list, [&](const Difference& d) { return interval_text(d.student.lo, d.student.hi, style); })}};
  if (!report.chose())
    columns.push_back({std::string(bootstrap_name(report.options.interval)),
                       texts(list, [&](const Difference& d) { return interval_text(d.bootstrap.lo, d.bootstrap.hi, style); })});
  columns.push_back({"p", texts(list, [](const auto& d) { return p_text(d.p); })});
  columns.push_back({"p Holm", texts(list, [](const auto& d) { return p_text(d.p_holm); })});
  return '\n' + paragraph("difference of differences: (row - baseline) at " + contrast_text(report), 0, 2) + side_by_side(columns, page_width());
}

}  // namespace

std::string stats_text(const StatsReport& report) {
  std::string out;
  for (const std::string& sentence : method_sentences(report)) out += paragraph(sentence, 0, 2);
  for (const std::string& remark : remarks(report)) out += paragraph(remark, 0, 2);
  out += cells_text(report) + differences_text(report) + contrasts_text(report);
  if (!report.options.thresholds.empty()) {
    out += profile_text(report, "performance profile: share of runs above a score", &CellStatistics::profile);
    if (report.runs.tasks.size() > 1)
      out += profile_text(report, "performance profile: share of tasks whose mean is above a score", &CellStatistics::average_profile);
  }
  return out;
}

// Writes the sentences of `stats`: how the numbers were computed, and warnings.

namespace {

/// The numbers of units (seeds) behind the intervals of all cells and differences; leaves out zeros.
std::vector<int> units_of(const StatsReport& report) {
  std::vector<int> units;
  for (const CellStatistics& c : report.statistics.cells) units.push_back(c.fewest);
  for (const auto* list : {&report.statistics.differences, &report.statistics.contrasts})
    for (const Difference& d : *list) units.push_back(d.student.n);
  std::erase(units, 0);
  return units;
}

}  // namespace

std::string_view bootstrap_name(IntervalKind kind) {
  return kind == IntervalKind::percentile ? "percentile" : kind == IntervalKind::bca ? "BCa" : "expanded BCa";
}

std::string contrast_text(const StatsReport& report) {
  const ContrastChoice& c = *report.options.contrast;
  return printable_line(fmt::format("{0}={1} minus the same at {0}={2}", report.columns.cell[c.column], c.with, c.without));
}

std::vector<std::string> method_sentences(const StatsReport& report) {
  const StatisticsOptions& o = report.options;
  const RunTable& runs = report.runs;
  const std::string task = report.columns.task.empty() ? "" : fmt::format(" ({})", joined(report.columns.task));
  std::vector<std::string> sentences = {printable_line(
      fmt::format("{} of {}: {} of {} ({}) in {} ({}) and {}{}", report.columns.value, report.file, counted(runs.runs.size(), "run"),
                  counted(runs.units.size(), "unit"), report.columns.unit, counted(runs.cells.size(), "cell"),
                  joined(report.columns.cell), counted(runs.tasks.size(), "task"), task))};
  sentences.push_back(fmt::format("intervals: {:g} %, {}{} bootstrap{}, {} resamples {}, seed {}; sd: chi-square", 100 * o.level,
                                  o.interval == IntervalKind::student ? "t for means and differences, " : "", bootstrap_name(o.interval),
                                  o.interval == IntervalKind::student ? " for the others" : "", o.resamples,
                                  runs.tasks.size() > 1 ? "of units, each with its runs in all tasks" : "of runs", o.seed));
  if (!report.baseline.empty()) {
    const std::string tests = counted(static_cast<std::size_t>(report.statistics.family), "test");
    sentences.push_back(printable_line(fmt::format(
        "differences: row - {}, paired by {}{} p Holm: corrected for the {} of this call; * p Holm < .05", report.baseline,
        report.columns.unit,
        report.chose() ? "; p: t tests of one, at its choice, against every choice of the other; intervals of the same tests exclude 0 "
                         "exactly where there is a star;"
                       : ", units resampled; p: two-sided paired t test;",
        tests)));
    sentences.push_back(
        "P(row > baseline): probability that a run of the row is above a run of the baseline, ties count half; interval: t by "
        "units, on the logit scale");
  }
  return sentences;
}

std::vector<std::string> remarks(const StatsReport& report) {
  std::vector<std::string> lines;
  for (const std::string& note : report.notes) lines.push_back("note: " + note);
  for (const std::string& note : report.statistics.notes) lines.push_back("note: " + note);
  std::vector<int> units = units_of(report);
  if (std::erase(units, 1) > 0) lines.push_back("note: one run or pair has neither a spread nor an interval (n/a)");
  const int fewest = units.empty() ? few_units : *std::min_element(units.begin(), units.end());
  if (fewest < few_units)
    lines.push_back(
        fmt::format("warning: n = {} is below {}: bootstrap intervals are too narrow (of a mean at n = 5 those of 95 % cover 83 %, "
                    "expanded ones 90 %){}",
                    fewest, few_units, report.options.interval == IntervalKind::student ? "" : "; --interval t is wider for means"));
  return lines;
}

}  // namespace odrpo::app
