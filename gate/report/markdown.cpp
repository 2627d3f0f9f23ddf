// A gate's report as Markdown: the summary of a CI job.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gate/report/report.hpp"
#include "gate/report/report_words.hpp"

namespace odrpo {
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

}  // namespace odrpo
