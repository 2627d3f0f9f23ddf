// The sentences of `stats`: how the numbers were made, and what to mind.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "app/stats/stats_report.hpp"
#include "kernels/system/printable.hpp"

namespace odrpo::app {
namespace {

std::string counted(std::size_t n, std::string_view what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

/// Units behind the intervals, where there are any.
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
  const std::string task = report.columns.task.empty() ? "" : fmt::format(" ({})", joined_names(report.columns.task));
  std::vector<std::string> sentences = {printable_line(
      fmt::format("{} of {}: {} of {} ({}) in {} ({}) and {}{}", report.columns.value, report.file, counted(runs.runs.size(), "run"),
                  counted(runs.units.size(), "unit"), report.columns.unit, counted(runs.cells.size(), "cell"),
                  joined_names(report.columns.cell), counted(runs.tasks.size(), "task"), task))};
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
