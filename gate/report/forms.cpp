// Writes a gate's report as JSON, Markdown, a figure and a page of text. Numbers that are not finite are null in JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gate/report/report.hpp"
#include "kernels/shared/json.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/terminal.hpp"
#include "results/page/html_text.hpp"
#include "results/stats/statistics.hpp"

namespace odrpo {
namespace {

Json text(const std::string& x) { return x.empty() ? Json() : Json(x); }

Json estimate_json(const GateEstimate& e) {
  if (e.blocks == 0) return {};
  return {{"ratio", e.ratio()}, {"lo", e.ratio_lo()}, {"hi", e.ratio_hi()}, {"alpha", e.alpha},
          {"p", e.p},           {"log_mean", e.mean}, {"log_sd", e.sd},     {"log_error", e.error},
          {"freedom", e.freedom}, {"blocks", e.blocks}};
}

Json case_json(const GateReport& r, std::size_t i) {
  const GateCase& c = r.decisions[i];
  const GateMeasurement& m = r.measured[i];
  Json json = {{"case", c.name},
               {"verdict", c.verdict ? Json(verdict_word(r, i)) : Json()},
               {"fails", fails(r, i)},
               {"sentence", case_sentence(r, i)}};
  json["change"] = estimate_json(c.estimate);
  json["control"] = estimate_json(c.control_estimate);
  json["smallest_found"] = c.estimate.blocks > 0 ? Json(smallest_found(c.estimate, r.rules)) : Json();
  json["repeat"] = m.repeat;
  json["baseline_ns"] = m.baseline_ns;
  json["clock"] = m.clock;
  json["checksum"] = {
      {"baseline", text(m.checksum)}, {"candidate", text(m.candidate_checksum)}, {"differs", c.differs}, {"varies", m.checksum_varies}};
  json["counts"] = Json::array();
  for (const GateCount& count : m.counts)
    json["counts"].push_back({{"what", count.what},
                              {"baseline", count.baseline},
                              {"candidate", count.candidate},
                              {"change", count.change()},
                              {"exact", count.exact},
                              {"reported", count.reported()}});
  json["blocks"] = {{"change", c.change}, {"control", c.control}};
  if (!m.cpu.empty()) json["blocks"]["cpu"] = m.cpu;
  if (!c.stored.empty()) json["blocks"]["stored"] = c.stored;
  return json;
}

}  // namespace

std::string gate_json(const GateReport& r) {
  Json json = {{"kind", r.kind},
               {"baseline", r.baseline},
               {"candidate", r.candidate},
               {"host", r.host},
               {"seed", r.seed},
               {"seconds", r.seconds},
               {"timed", r.timed},
               {"out_of_time", r.out_of_time},
               {"exit", gate_exit(r)},
               {"outcome", outcome_text(r)},
               {"rules",
                {{"limit", r.rules.limit},
                 {"same", r.rules.same},
                 {"alpha", r.rules.alpha},
                 {"looks", r.rules.looks},
                {"drift", r.rules.drift},
                 {"pairs_per_block", pairs_per_block}}}};
  json["fail_on"] = Json::array();
  for (const GateVerdict v : r.fail_on.verdicts)
    json["fail_on"].push_back(verdict_word(v));
  if (r.fail_on.counts) json["fail_on"].push_back("counts");
  json["instructions_by"] = r.counted_by;
  json["allocations_by"] = r.allocations_by;
  json["cases"] = Json::array();
  for (const std::size_t i : worst_first(r)) json["cases"].push_back(case_json(r, i));
  json["left_out"] = Json::array();
  for (const GateLeftOut& left : r.left_out) json["left_out"].push_back({{"case", left.name}, {"why", left.why}});
  return ci_safe_json(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

// A gate's report as Markdown: the summary of a CI job.

namespace {

constexpr std::size_t most_table_rows = 50;
constexpr int drawn_columns = 21;     // of an interval drawn in characters
constexpr double drawn_range = 0.10;  // it shows 10 % to both sides

/// "·····|·├●┤···|·····": the interval between -10 % and +10 %, with no change in the middle.
std::string drawn(const GateEstimate& e) {
  if (e.blocks == 0) return "";
  const auto place = [](double log) {
    return std::clamp(static_cast<int>(std::lround((log / drawn_range + 1) / 2 * (drawn_columns - 1))), 0, drawn_columns - 1);
  };
  const int lo = place(e.lo), hi = place(e.hi), mean = place(e.mean);
  std::string out;
  for (int i = 0; i < drawn_columns; ++i) out += i == mean ? "●" : i >= lo && i <= hi ? "─" : i == drawn_columns / 2 ? "┊" : "·";
  return out;
}

}  // namespace

std::string gate_markdown(const GateReport& r, const std::string& svg) {
  std::string out = fmt::format("### gate: {}\n\n{}\n\n", markdown_text(outcome_text(r)), markdown_text(rules_text(r)));
  out += fmt::format("baseline: {}<br>\ncandidate: {}<br>\nhost: {}\n\n", markdown_text(short_text(r.baseline, 300)),
                     markdown_text(short_text(r.candidate, 300)), markdown_text(short_text(r.host, 200)));
  out += "| case | ratio | interval | -10 % … +10 % | verdict |\n|---|---:|---|---|---|\n";
  const std::vector<std::size_t> order = worst_first(r);
  const std::size_t rows = std::min(order.size(), most_table_rows);
  for (std::size_t k = 0; k < rows; ++k) {
    const GateCase& c = r.decisions[order[k]];
    const bool measured = c.estimate.blocks > 0;
    const std::string verdict = verdict_word(r, order[k]), failure = failure_word(r, order[k]);
    const std::string shown = failure.empty() ? verdict : (failure == verdict ? "" : verdict + ", ") + "**" + failure + "**";
    out += fmt::format("| {} | {} | {} | {} | {} |\n", markdown_text(short_text(c.name, 120)), measured ? ratio_text(c.estimate) : "",
                       measured ? interval_text(c.estimate) : "", measured ? "`" + drawn(c.estimate) + "`" : "", shown);
  }
  if (rows < order.size())
    out += fmt::format("\n{} more cases, none worse than these, are in the JSON and JUnit reports.\n", order.size() - rows);
  out += '\n';
  for (std::size_t k = 0; k < rows; ++k) {
    const std::size_t i = order[k];
    if (notable(r, i))
      out += fmt::format("- {}: {}\n", markdown_text(short_text(r.decisions[i].name, 120)), markdown_text(case_sentence(r, i)));
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(r.left_out.size(), 10); ++i)
    out += fmt::format("- not compared: {}: {}\n", markdown_text(short_text(r.left_out[i].name, 120)),
                       markdown_text(short_text(r.left_out[i].why, 200)));
  if (r.left_out.size() > 10) out += fmt::format("- not compared: {} more\n", r.left_out.size() - 10);
  out += fmt::format("\n{}<br>\n{}\n", markdown_text(intervals_sentence(r)),
                     markdown_text(fmt::format("Instructions counted by: {}. Allocations: {}.", r.counted_by, r.allocations_by)));
  if (!svg.empty() && r.timed) out += fmt::format("\n![intervals of all cases](<{}>)\n", svg);
  return out;
}

// The intervals of a gate's cases as a small SVG.

namespace {

constexpr std::size_t most_rows = 40;
constexpr double row_height = 18, left = 300, width = 340, top = 34;

const char* colour(const GateReport& r, std::size_t i) {
  if (fails(r, i)) return "#D55E00";  // Okabe and Ito's vermilion
  const auto& v = r.decisions[i].verdict;
  if (v == GateVerdict::faster) return "#009E73";
  return v == GateVerdict::same ? "#0072B2" : "#E69F00";
}

/// Half of the shown range, in percent: 3, 5, 10, 20, 50 or 100.
double half_range(const GateReport& r, std::span<const std::size_t> rows) {
  double most = 100 * r.rules.same;
  for (const std::size_t i : rows) {
    const GateEstimate& e = r.decisions[i].estimate;
    if (e.blocks > 0) most = std::max({most, 100 * std::abs(e.ratio_hi() - 1), 100 * std::abs(e.ratio_lo() - 1)});
  }
  for (const double range : {5.0, 10.0, 20.0, 50.0})
    if (most <= range) return range;
  return 100;
}

}  // namespace

std::string gate_svg(const GateReport& r) {
  const std::vector<std::size_t> order = worst_first(r);
  const std::span<const std::size_t> rows = std::span(order).first(std::min(order.size(), most_rows));
  const double range = half_range(r, rows), height = top + row_height * static_cast<double>(rows.size()) + 26;
  const auto x = [&](double percent) { return left + width * (std::clamp(percent, -range, range) / range + 1) / 2; };
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"660\" height=\"{0:g}\" viewBox=\"0 0 660 {0:g}\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n"
      "<title>{1}</title>\n<rect width=\"660\" height=\"{0:g}\" fill=\"#ffffff\"/>\n<text x=\"8\" y=\"18\" "
      "font-weight=\"bold\">{1}</text>\n",
      height, markup_text(short_text("gate: " + outcome_text(r), 100)));
  const double bottom = top + row_height * static_cast<double>(rows.size());
  const auto mark = [&](double percent, const char* dash) {
    out += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:g}\" x2=\"{0:.1f}\" y2=\"{2:g}\" stroke=\"#888888\"{3}/>\n", x(percent), top - 4,
                       bottom + 4, dash);
  };
  mark(0, "");
  mark(100 * r.rules.limit, " stroke-dasharray=\"4 3\"");
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const GateCase& c = r.decisions[rows[k]];
    const double y = top + row_height * (static_cast<double>(k) + 0.5);
    out += fmt::format("<text x=\"8\" y=\"{:.1f}\">{}</text>\n", y + 4, markup_text(short_text(c.name, 40)));
    if (c.estimate.blocks == 0) {
      out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\">{}</text>\n", x(0) + 6, y + 4, colour(r, rows[k]),
                         verdict_word(r, rows[k]));
      continue;
    }
    const auto percent = [](double ratio) { return 100 * (ratio - 1); };
    out += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"2\"/>\n",
                       x(percent(c.estimate.ratio_lo())), y, x(percent(c.estimate.ratio_hi())), y, colour(r, rows[k]));
    out +=
        fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"/>\n", x(percent(c.estimate.ratio())), y, colour(r, rows[k]));
  }
  for (const double percent : {-range, 0.0, range})
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x(percent), bottom + 20,
                       percent == 0 ? "no change" : fmt::format("{:+g} %", percent));
  return out + "</svg>\n";
}

// A gate's report as a page of text.

namespace {

constexpr std::size_t verdict_width = 12;
constexpr std::size_t most_left_out = 5, most_sentences = 20;

bool speaks(const GateReport& r, std::size_t i) { return notable(r, i) || r.measured[i].checksum_varies; }

/// A sentence on the commands' CPU time, which decides nothing.
std::string cpu_sentence(const GateMeasurement& m) {
  const MeanInterval e = mean_interval(m.cpu, 0.95);
  return fmt::format("CPU time: {:.3f} [{:.3f}, {:.3f}] times the baseline's (95 %, n = {} blocks); it decides nothing.", std::exp(e.mean),
                     std::exp(e.lo), std::exp(e.hi), e.n);
}

}  // namespace

std::string gate_text(const GateReport& r) {
  std::string out = fmt::format("gate: {}\n", rules_text(r));
  out += fmt::format("baseline   {}\ncandidate  {}\nhost       {}\n\n", short_text(r.baseline, page_width() - 11),
                     short_text(r.candidate, page_width() - 11), short_text(r.host, page_width() - 11));
  const std::vector<std::size_t> order = worst_first(r);
  TextColumn names{"case", {}}, ratios{"ratio", {}, true}, intervals{"interval      ", {}}, verdicts{"verdict", {}};
  for (const std::size_t i : order) {
    const GateEstimate& e = r.decisions[i].estimate;
    ratios.rows.push_back(e.blocks > 0 ? ratio_text(e) : "-");
    intervals.rows.push_back(e.blocks > 0 ? interval_text(e) : "-");
    verdicts.rows.push_back(painted(verdict_word(r, i), verdict_paint(fails(r, i), notable(r, i))));
  }
  const std::size_t others = 2 + widest(ratios) + 2 + widest(intervals) + 2 + verdict_width;
  const std::size_t name_width = std::max<std::size_t>(page_width(), others + 12) - others;
  for (const std::size_t i : order) names.rows.push_back(short_text(r.decisions[i].name, name_width));
  out += side_by_side({names, ratios, intervals, verdicts}, page_width()) + '\n';
  std::size_t said = 0, silent = 0;
  for (const std::size_t i : order) {
    if (!speaks(r, i)) continue;
    if (said++ < most_sentences) out += paragraph(fmt::format("{}: {}", short_text(r.decisions[i].name, 40), case_sentence(r, i)), 0, 2);
    else ++silent;
  }
  if (silent > 0) out += fmt::format("… and {} more\n", silent);
  if (said > 0) out += '\n';
  for (const GateMeasurement& m : r.measured)
    if (!m.cpu.empty()) out += paragraph(cpu_sentence(m), 0);
  for (std::size_t i = 0; i < std::min(r.left_out.size(), most_left_out); ++i)
    out += paragraph(fmt::format("not compared: {}: {}", short_text(r.left_out[i].name, 40), short_text(r.left_out[i].why, 200)), 0, 2);
  if (r.left_out.size() > most_left_out) out += fmt::format("not compared: {} more\n", r.left_out.size() - most_left_out);
  out += paragraph(intervals_sentence(r), 0);
  out += paragraph(fmt::format("Instructions counted by: {}. Allocations: {}.", r.counted_by, r.allocations_by), 0);
  out += fmt::format("\n{}, {:.0f} s\n", painted(outcome_text(r), verdict_paint(gate_exit(r) != 0)), r.seconds);
  return without_ci_commands(std::move(out));
}

}  // namespace odrpo
