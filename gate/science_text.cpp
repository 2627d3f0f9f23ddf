// Writes what `gate --science` reports: sentences, a page of text, JSON, findings.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "gate/programs.hpp"
#include "gate/report/report.hpp"
#include "kernels/shared/json.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"
#include "results/export/file_diff.hpp"

namespace odrpo {
namespace {

constexpr std::size_t most_cells = 20;

std::string_view science_word(ScienceVerdict v) { return word_of(std::span<const Word<ScienceVerdict>>(science_verdict_words), v); }

/// The value of a measure in its unit: levels, or percent.
double in_unit(int metric, double value) { return metric == science_quality ? value : 100 * value; }
const char* unit_of(int metric) { return metric == science_quality ? "levels" : metric == science_gain ? "% of the possible" : "%"; }
std::string number_text(int metric, double value) {
  if (std::isnan(value)) return "n/a";
  const double x = in_unit(metric, value);
  const double size = std::abs(x);
  return size >= 1000 ? fmt::format("{:+.1e}", x) : size >= 0.01 || size == 0 ? fmt::format("{:+.3f}", x) : fmt::format("{:+.2g}", x);
}
std::string interval_text(int metric, const MeanInterval& d) {
  return fmt::format("[{}, {}]", number_text(metric, d.lo), number_text(metric, d.hi));
}
std::string margin_text(int metric, double margin) {
  return fmt::format("{:g}{}", in_unit(metric, margin), metric == science_quality ? " levels" : " %");
}

/// True if this measure is a reason why a cell is not the same.
bool outside(const ScienceMeasure& m) { return m.undefined > 0 || (m.test.difference.n > 0 && (!m.test.within || m.never > 0)); }

/// The measure that differs by the largest part of its margin.
int worst_metric(const ScienceCell& cell) {
  const auto part = [&](int metric) {
    const ScienceMeasure& m = cell.measures[static_cast<std::size_t>(metric)];
    return m.test.difference.n > 0 ? std::abs(m.test.difference.mean) / m.test.margin : -1;
  };
  int worst = 0;
  for (int metric = 1; metric < science_metric_count; ++metric)
    if (part(metric) > part(worst)) worst = metric;
  return worst;
}

std::string p_text(double p) { return p < 0.001 ? "p < .001" : fmt::format("p = {:.3f}", p); }

/// "gain +0.31 [+0.20, +0.42] % of the possible, margin 0.5 %, p < .001".
std::string measure_text(int metric, const ScienceMeasure& m) {
  const MeanInterval& d = m.test.difference;
  if (d.n == 0)
    return fmt::format("{}, which only one file has in {}", science_metric_names[static_cast<std::size_t>(metric)],
                       runs_text(static_cast<std::size_t>(m.undefined)));
  std::string text =
      fmt::format("{} {} {} {}, margin {}", science_metric_names[static_cast<std::size_t>(metric)], number_text(metric, d.mean),
                  interval_text(metric, d), unit_of(metric), margin_text(metric, m.test.margin));
  if (!std::isnan(m.p_holm)) text += ", " + p_text(m.p_holm);
  if (m.undefined > 0) text += fmt::format(", defined in one file alone in {}", runs_text(static_cast<std::size_t>(m.undefined)));
  if (m.never > 0) text += fmt::format(", never reached by one of them in {}", runs_text(static_cast<std::size_t>(m.never)));
  return text;
}

std::string margins_text(const ScienceReport& r) {
  return fmt::format("quality {}, gain {}, steps {}", margin_text(science_quality, r.margins[science_quality]),
                     margin_text(science_gain, r.margins[science_gain]), margin_text(science_steps, r.margins[science_steps]));
}

std::string rules_line(const ScienceReport& r) {
  return fmt::format("science, fails on {}; margins: {}", r.fail_on.empty() ? "nothing" : joined(r.fail_on, science_word), margins_text(r));
}

std::vector<std::string> notes_of(const ScienceReport& r) {
  if (r.same_digest) return {"Equal digests: every run, value and curve is the same."};
  std::vector<std::string> notes;
  notes.push_back(fmt::format(
      "Differences: NEW - OLD, means over {} paired by id; intervals at 90 %, which lie within the margin where two one-sided t "
      "tests at 5 % say so. Moved: p < .05 after Holm's correction over {} tests.",
      runs_text(r.comparison.pairs), r.comparison.tests));
  notes.push_back(r.no_steps.empty() ? "Quality: levels at the end. Gain: share of the possible. Steps: until 90 % of the gain (mean of "
                                       "both runs) is reached, relative "
                                       "to OLD's."
                                     : "Steps were not compared: " + r.no_steps + ".");
  if (r.other_seed) notes.push_back("The suites have different seeds: a pair shares its settings and nothing else.");
  if (!std::isnan(r.comparison.found_gain))
    notes.push_back(
        fmt::format("Power: with these runs a true difference of gain of {:.3g} % of the possible is called moved (out of its margin) four "
                    "times of five in the middle cell, {:.3g} % in the worst.",
                    100 * r.comparison.found_gain, 100 * r.comparison.found_gain_worst));
  return notes;
}

/// Why the cell is not the same: what lies outside of its margin, failures, seeds needed.
std::vector<std::string> reasons(const ScienceCell& cell) {
  std::vector<std::string> out;
  for (std::size_t metric = 0; metric < science_metric_count; ++metric)
    if (outside(cell.measures[metric])) out.push_back(measure_text(static_cast<int>(metric), cell.measures[metric]));
  const auto runs = [](int n) { return runs_text(static_cast<std::size_t>(n)); };
  if (cell.failed_old + cell.failed_new > 0)
    out.push_back(fmt::format("failed in OLD alone: {}, in NEW alone: {}, {}", runs(cell.failed_old), runs(cell.failed_new),
                              p_text(cell.failed_p_holm)));
  if (!cell.compared)
    out.push_back(cell.pairs == 0 ? "no run ended well in both files" : "the runs have neither quality nor gain nor a curve in both files");
  else if (cell.verdict == ScienceVerdict::inconclusive)
    out.push_back(cell.pairs < 2           ? std::string("fewer than two pairs have no interval")
                  : cell.seeds_needed == 0 ? fmt::format("n = {} seeds do not tell, and a million would not", cell.pairs)
                                           : fmt::format("n = {} seeds; {} needed", cell.pairs, cell.seeds_needed));
  return out;
}

/// A line with the verdict, and one for each reason.
std::string cell_text(const ScienceCell& cell, bool fails) {
  const std::string_view word = science_word(cell.verdict);
  const std::size_t width = page_width() - 2 - word.size();
  const Paint paint = verdict_paint(fails, cell.verdict != ScienceVerdict::same);
  std::string out = fmt::format("{}  {}\n", padded(short_text(cell.name, width), width), painted(word, paint));
  for (const std::string& reason : reasons(cell)) out += paragraph(reason, 2, 2);
  return out;
}

std::string left_out_text(const ScienceReport& r) {
  return ids_page("OLD", r.diff.only_a, r.diff.count_a) + ids_page("NEW", r.diff.only_b, r.diff.count_b);
}

}  // namespace

std::string science_outcome(const ScienceReport& r) {
  if (r.same_digest) return "same: equal digests (exit 0)";
  const auto& cells = r.comparison.cells;
  return fmt::format("{}: {} (exit {})", counted(cells.size(), "cell"), verdict_counts(science_verdict_words, cells), science_exit(r));
}

std::string science_sentence(const ScienceCell& cell) {
  std::vector<std::string> parts = reasons(cell);
  if (cell.verdict == ScienceVerdict::same) {
    const int metric = worst_metric(cell);
    const ScienceMeasure& m = cell.measures[static_cast<std::size_t>(metric)];
    parts.push_back(measure_text(metric, m));
  }
  return fmt::format("{}: {}", science_word(cell.verdict), joined(parts, {}, "; "));
}

std::string science_text(const ScienceReport& r) {
  std::string out = paragraph("gate: " + rules_line(r), 0, 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& f = r.file[i];
    out += paragraph(fmt::format("{}  {}: suite {}, {}, digest {}", i == 0 ? "OLD" : "NEW", printable_line(f.path), printable_line(f.suite),
                                 runs_text(f.runs), printable_line(f.digest.substr(0, 12))),
                     0, 5);
  }
  out += '\n';
  std::size_t told = 0, silent = 0;
  for (const ScienceCell& cell : r.comparison.cells) {
    if (cell.verdict == ScienceVerdict::same) continue;
    if (told++ < most_cells) out += cell_text(cell, science_fails(r, cell));
    else ++silent;
  }
  if (silent > 0) out += fmt::format("… and {} more\n", silent);
  if (told > 0) out += '\n';
  for (const std::string& note : notes_of(r)) out += paragraph(note, 0);
  if (r.diff.count_a + r.diff.count_b > 0) out += "\nruns that are not compared\n" + left_out_text(r);
  if (!r.same_digest) out += settings_page("what computed them (A: OLD, B: NEW)", r.diff.programs) + values_page(r.diff);
  out += '\n' + painted(science_outcome(r), verdict_paint(science_exit(r) != 0)) + '\n';
  return without_ci_commands(std::move(out));
}

Findings science_findings(const ScienceReport& r) {
  Findings out{"science", science_outcome(r), rules_line(r), {{"OLD", r.file[0].path}, {"NEW", r.file[1].path}}, {}, {}, notes_of(r), 0};
  for (const ScienceCell& cell : r.comparison.cells) {
    const std::string word(science_word(cell.verdict));
    out.found.push_back(
        {cell.name, word, science_sentence(cell), science_fails(r, cell) ? word : "", cell.verdict != ScienceVerdict::same, 0});
  }
  for (const auto& [ids, count, why] :
       {std::tuple{&r.diff.only_a, r.diff.count_a, "only OLD has it"}, std::tuple{&r.diff.only_b, r.diff.count_b, "only NEW has it"}}) {
    for (const std::string& id : *ids) out.left_out.push_back({id, why});
    if (count > ids->size()) out.left_out.push_back({fmt::format("{} more", runs_text(count - ids->size())), why});
  }
  if (r.same_digest) out.found.push_back({"digest", "same", out.notes[0], "", false, 0});
  return out;
}

std::string science_json(const ScienceReport& r) {
  const auto file = [](const ScienceReport::File& f) {
    return Json{{"file", f.path}, {"suite", f.suite}, {"runs", f.runs}, {"digest", f.digest}};
  };
  Json margins, fail_on = Json::array(), cells = Json::array();
  for (std::size_t k = 0; k < science_metric_count; ++k) margins[science_metric_names[k]] = r.margins[k];
  for (const ScienceVerdict v : r.fail_on) fail_on.push_back(science_word(v));
  for (const ScienceCell& cell : r.comparison.cells) {
    Json measures;
    for (std::size_t k = 0; k < science_metric_count; ++k) {
      const ScienceMeasure& m = cell.measures[k];
      const MeanInterval& d = m.test.difference;
      measures[science_metric_names[k]] = {{"n", d.n},        {"difference", d.mean}, {"sd", d.sd},
                                           {"lo", d.lo},      {"hi", d.hi},           {"within", m.test.within},
                                           {"p", m.test.p},   {"p_holm", m.p_holm},   {"undefined", m.undefined},
                                           {"never", m.never}};
    }
    cells.push_back({{"cell", cell.name},
                     {"verdict", science_word(cell.verdict)},
                     {"fails", science_fails(r, cell)},
                     {"sentence", science_sentence(cell)},
                     {"pairs", cell.pairs},
                     {"failed_old", cell.failed_old},
                     {"failed_new", cell.failed_new},
                     {"failed_p_holm", cell.failed_p_holm},
                     {"seeds_needed", cell.seeds_needed > 0 ? Json(cell.seeds_needed) : Json()},
                     {"measures", measures}});
  }
  const Json out = {{"kind", "science"},
                    {"verdict", science_word(r.comparison.verdict)},
                    {"exit", science_exit(r)},
                    {"outcome", science_outcome(r)},
                    {"equal_digests", r.same_digest},
                    {"other_seed", r.other_seed},
                    {"old", file(r.file[0])},
                    {"new", file(r.file[1])},
                    {"margins", margins},
                    {"fail_on", fail_on},
                    {"pairs", r.comparison.pairs},
                    {"tests", r.comparison.tests},
                    {"steps_left_out", r.no_steps.empty() ? Json() : Json(r.no_steps)},
                    {"found_gain", r.comparison.found_gain},
                    {"found_gain_worst", r.comparison.found_gain_worst},
                    {"only_old", r.diff.count_a},
                    {"only_new", r.diff.count_b},
                    {"cells", cells}};
  return ci_safe_json(out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace odrpo
