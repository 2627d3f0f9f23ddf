// A gate's report as a page of text.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gate/report/report.hpp"
#include "gate/report/report_words.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/page_text.hpp"
#include "results/stats/statistics.hpp"

namespace odrpo {
namespace {

constexpr std::size_t verdict_width = 12;
constexpr std::size_t most_left_out = 5, most_sentences = 20;

bool speaks(const GateReport& r, std::size_t i) { return notable(r, i) || r.measured[i].checksum_varies; }

/// Of the commands' CPU time, which decides nothing.
std::string cpu_sentence(const GateMeasurement& m) {
  const MeanInterval e = mean_interval(m.cpu, 0.95);
  return fmt::format("CPU time: {:.3f} [{:.3f}, {:.3f}] times the baseline's (95 %, n = {} blocks); it decides nothing.", std::exp(e.mean),
                     std::exp(e.lo), std::exp(e.hi), e.n);
}

}  // namespace

std::string gate_text(const GateReport& r) {
  std::string out = fmt::format("gate: {}\n", rules_text(r));
  out += fmt::format("baseline   {}\ncandidate  {}\nhost       {}\n\n", short_text(r.baseline, page - 11),
                     short_text(r.candidate, page - 11), short_text(r.host, page - 11));
  const std::vector<std::size_t> order = worst_first(r);
  std::size_t name_width = 4, ratio_width = 5, interval_width = 14;
  for (const GateCase& c : r.decisions) {
    name_width = std::max(name_width, columns_of(short_text(c.name, page)));
    if (c.estimate.blocks == 0) continue;
    ratio_width = std::max(ratio_width, ratio_text(c.estimate).size());
    interval_width = std::max(interval_width, interval_text(c.estimate).size());
  }
  name_width = std::min(name_width, page - 2 - ratio_width - 2 - interval_width - 2 - verdict_width);
  out += fmt::format("{}  {:>{}}  {:<{}}  verdict\n", padded("case", name_width), "ratio", ratio_width, "interval", interval_width);
  for (const std::size_t i : order) {
    const GateCase& c = r.decisions[i];
    const bool measured = c.estimate.blocks > 0;
    out +=
        fmt::format("{}  {:>{}}  {:<{}}  {}\n", padded(short_text(c.name, name_width), name_width), measured ? ratio_text(c.estimate) : "-",
                    ratio_width, measured ? interval_text(c.estimate) : "-", interval_width, verdict_word(r, i));
  }
  out += '\n';
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
  out += fmt::format("\n{}, {:.0f} s\n", outcome_text(r), r.seconds);
  return without_ci_commands(std::move(out));
}

}  // namespace odrpo
