// Writes `stats` as CSV (one line per cell) and as JSON, with all digits. Undefined numbers are empty in CSV and null in JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "app/stats/stats_report.hpp"
#include "kernels/shared/json.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"
#include "results/scores/csv.hpp"

namespace odrpo::app {
namespace {

std::string_view interval_word(IntervalKind kind) { return word_of<IntervalKind>(interval_words, kind); }

std::string field(const std::string& text) { return csv_field(printable_line(text)); }

std::string exact(double value) { return exact_text(value); }
std::string exact(const Estimate& e) { return fmt::format("{},{},{}", exact(e.value), exact(e.lo), exact(e.hi)); }

const Difference* of_cell(const std::vector<Difference>& list, std::size_t cell) {
  for (const Difference& d : list)
    if (d.cell == cell) return &d;
  return nullptr;
}

/// The CSV fields of a difference: pairs, left_out, mean, sd, t interval, bootstrap interval, p, p_holm, star. All are empty for nullptr.
std::string difference_fields(const Difference* d) {
  if (!d) return ",,,,,,,,,,";
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{}", d->student.n, d->left_out, exact(d->student.mean), exact(d->student.sd),
                     exact(d->student.lo), exact(d->student.hi), exact(d->bootstrap.lo), exact(d->bootstrap.hi), exact(d->p),
                     exact(d->p_holm),
                     std::isnan(d->p_holm)    ? ""
                     : d->p_holm < star_level ? "true"
                                              : "false");
}

std::string difference_heading(const std::string& name) {
  std::string text;
  for (const char* what : {"_pairs", "_left_out", "", "_sd", "_t_lo", "_t_hi", "_bootstrap_lo", "_bootstrap_hi", "_p", "_p_holm", "_star"})
    text += ',' + name + what;
  return text;
}

/// The CSV heading of a column that names cells. Where a column of statistics has that name too, "cell_" is put in front: "cell_n".
std::string cell_heading(const std::string& name) {
  constexpr std::string_view own[] = {"value", "n", "runs", "tasks", "mean", "sd", "median", "iqm", "optimality_gap", "baseline",
                                      "difference", "probability_of_improvement", "contrast", "contrast_of", "interval", "resamples",
                                      "seed", "level", "family_size"};
  return std::find(std::begin(own), std::end(own), name) == std::end(own) ? name : "cell_" + name;
}

Json estimate_json(const Estimate& e) { return {{"value", e.value}, {"lo", e.lo}, {"hi", e.hi}}; }

Json name_object(const std::vector<std::string>& columns, const std::vector<std::string>& texts) {
  Json out = Json::object();
  for (std::size_t i = 0; i < columns.size(); ++i) out[printable_line(columns[i])] = printable_line(texts[i]);
  return out;
}

Json words(const std::vector<std::string>& list) {
  Json out = Json::array();
  for (const std::string& text : list) out.push_back(printable_line(text));
  return out;
}

Json difference_object(const Difference& d, const StatsReport& report, bool contrast) {
  const auto& cells = report.runs.cells;
  Json out{{"cell", name_object(report.columns.cell, cells[d.cell])},
           {"baseline", name_object(report.columns.cell, cells[d.baseline])},
           {"pairs", d.student.n},
           {"tasks", d.tasks},
           {"left_out", d.left_out},
           {"mean", d.student.mean},
           {"sd", d.student.sd},
           {"t", {{"lo", d.student.lo}, {"hi", d.student.hi}}},
           {"bootstrap", {{"lo", d.bootstrap.lo}, {"hi", d.bootstrap.hi}}},
           {"p", d.p},
           {"p_holm", d.p_holm},
           {"star", std::isnan(d.p_holm) ? Json(nullptr) : Json(d.p_holm < star_level)}};
  if (!contrast) out["probability_of_improvement"] = estimate_json(d.improvement);
  return out;
}

Json profile_array(const std::vector<Estimate>& profile, const std::vector<double>& thresholds) {
  Json out = Json::array();
  for (std::size_t k = 0; k < profile.size(); ++k) {
    out.push_back({{"above", thresholds[k]}});
    out.back().update(estimate_json(profile[k]));
  }
  return out;
}

Json cell_object(const CellStatistics& c, const StatsReport& report) {
  Json out{{"cell", name_object(report.columns.cell, c.name)},
           {"n", c.units},
           {"runs", c.runs},
           {"tasks", c.tasks},
           {"mean", estimate_json(c.mean)},
           {"sd", estimate_json(c.sd)},
           {"median", estimate_json(c.median)},
           {"iqm", estimate_json(c.iqm)}};
  if (report.options.gamma) out["optimality_gap"] = estimate_json(c.optimality_gap);
  if (!c.profile.empty()) out["run_score_distribution"] = profile_array(c.profile, report.options.thresholds);
  if (!c.average_profile.empty()) out["average_score_distribution"] = profile_array(c.average_profile, report.options.thresholds);
  return out;
}

}  // namespace

std::string stats_csv(const StatsReport& report) {
  const StatisticsOptions& o = report.options;
  const RunStatistics& s = report.statistics;
  std::string out;
  for (const std::string& name : report.columns.cell) out += field(cell_heading(name)) + ',';
  out += "value,n,runs,tasks";
  const auto heading = [&](const std::string& name) { out += fmt::format(",{0},{0}_lo,{0}_hi", name); };
  for (const char* name : {"mean", "sd", "median", "iqm"}) heading(name);
  if (o.gamma) heading("optimality_gap");
  for (const double tau : o.thresholds) heading(fmt::format("runs_above_{}", tau));
  if (!s.cells.empty() && !s.cells[0].average_profile.empty())
    for (const double tau : o.thresholds) heading(fmt::format("tasks_above_{}", tau));
  if (!report.baseline.empty()) {
    out += ",baseline" + difference_heading("difference");
    heading("probability_of_improvement");
  }
  if (o.contrast) out += ",contrast_of" + difference_heading("contrast");
  out += ",interval,resamples,seed,level,family_size\n";
  for (std::size_t c = 0; c < s.cells.size(); ++c) {
    const CellStatistics& cell = s.cells[c];
    for (const std::string& text : cell.name) out += field(text) + ',';
    out += fmt::format("{},{},{},{},{},{},{},{}", field(report.columns.value), cell.units, cell.runs, cell.tasks, exact(cell.mean),
                       exact(cell.sd), exact(cell.median), exact(cell.iqm));
    if (o.gamma) out += ',' + exact(cell.optimality_gap);
    for (const auto* profile : {&cell.profile, &cell.average_profile})
      for (const Estimate& e : *profile) out += ',' + exact(e);
    if (!report.baseline.empty()) {
      const Difference* d = of_cell(s.differences, c);
      out += fmt::format(",{},{},{}", d ? field(joined(report.runs.cells[d->baseline])) : "", difference_fields(d),
                         d ? exact(d->improvement) : ",,");
    }
    if (o.contrast) {
      const Difference* d = of_cell(s.contrasts, c);
      out += fmt::format(",{},{}", d ? field(contrast_text(report)) : "", difference_fields(d));
    }
    out += fmt::format(",{},{},{},{},{}\n", interval_word(o.interval), o.resamples, o.seed, o.level, s.family);
  }
  return out;
}

std::string stats_json(const StatsReport& report) {
  const StatisticsOptions& o = report.options;
  Json out{{"file", printable_line(report.file)},
           {"unit", printable_line(report.columns.unit)},
           {"cell", words(report.columns.cell)},
           {"value", printable_line(report.columns.value)},
           {"task", words(report.columns.task)},
           {"interval", interval_word(o.interval)},
           {"resamples", o.resamples},
           {"seed", o.seed},
           {"level", o.level},
           {"gamma", o.gamma ? Json(*o.gamma) : Json(nullptr)},
           {"baseline", report.baseline.empty() ? Json(nullptr) : Json(printable_line(report.baseline))},
           {"contrast", o.contrast ? Json(contrast_text(report)) : Json(nullptr)},
           {"family_size", report.statistics.family},
           {"notes", words(remarks(report))},
           {"cells", Json::array()},
           {"differences", Json::array()},
           {"contrasts", Json::array()}};
  for (const CellStatistics& c : report.statistics.cells) out["cells"].push_back(cell_object(c, report));
  for (const Difference& d : report.statistics.differences) out["differences"].push_back(difference_object(d, report, false));
  for (const Difference& d : report.statistics.contrasts) out["contrasts"].push_back(difference_object(d, report, true));
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace odrpo::app
