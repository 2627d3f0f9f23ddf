// Writes the words and numbers that the forms of a gate's report share.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gate/report/report.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {
namespace {

/// A ratio; the interval of two blocks may be very wide.
std::string times_text(double ratio) { return ratio < 1000 ? fmt::format("{:.3f}", ratio) : fmt::format("{:.2e}", ratio); }

/// The sentence of an inconclusive case without times.
std::string uncounted_text(const GateMeasurement& m) {
  return fmt::format("inconclusive: no instructions were compared{}{}", counted(m, "allocations") ? "; allocations have not changed" : "",
                     m.checksum.empty() || m.checksum_varies ? "" : "; checksums are equal");
}

/// What an inconclusive case could have found; `slow_down` is a share of the baseline's time.
std::string found_text(double slow_down, int blocks) {
  if (!(slow_down < 9)) return fmt::format("{} blocks are too few to find even ten times the baseline's time", blocks);
  return fmt::format("a slow-down of {:.1f} % or more would have been found 19 times of 20", 100 * slow_down);
}

}  // namespace

std::string short_text(std::string_view text, std::size_t width) {
  return shortened(printable_line(text.substr(0, std::min<std::size_t>(text.size(), 10'000))), width);
}

std::string without_ci_commands(std::string text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t word = text.find_first_not_of(' ', at);
    if (word != std::string::npos && text.compare(word, 2, "::") == 0) text[word] = '.';
    at = std::min(text.find('\n', at), text.size());
  }
  for (std::size_t at = 0; (at = text.find("##", at)) != std::string::npos;) text[at + 1] = '.';
  return text;
}

TextPlace place_of(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto lines = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  return {lines + 1, std::max<std::size_t>(before.size() - (before.rfind('\n') + 1), 1)};  // npos + 1 is 0
}

std::string ci_safe_json(std::string json) {
  for (std::size_t at = 0; (at = json.find("##", at)) != std::string::npos;) json.replace(at, 1, "\\u0023");
  return json;
}

std::string verdict_word(GateVerdict v) { return std::string(word_of(std::span<const Word<GateVerdict>>(gate_verdict_words), v)); }
std::string verdict_word(const GateReport& r, std::size_t i) {
  if (r.decisions[i].verdict) return verdict_word(*r.decisions[i].verdict);
  return counts_changed(r, i) ? "counts" : "-";
}

std::string failure_word(const GateReport& r, std::size_t i) {
  if (!fails(r, i)) return "";
  return fails_by_verdict(r, i) ? verdict_word(r, i) : "counts";
}

std::string ratio_text(const GateEstimate& e) { return times_text(e.ratio()); }
std::string interval_text(const GateEstimate& e) { return fmt::format("[{}, {}]", times_text(e.ratio_lo()), times_text(e.ratio_hi())); }
std::string checksum_text(const std::string& checksum) { return checksum.empty() ? "none" : short_text(checksum, 20); }

std::string count_text(const GateCount& c) {
  const std::string change = std::isfinite(c.change()) ? fmt::format("{:+.1f} %", 100 * c.change()) : "from none";
  return fmt::format("{} {} ({} to {})", c.what, change, odrpo::count_text(c.baseline), odrpo::count_text(c.candidate));
}

std::string outcome_text(const GateReport& r) {
  std::string out = verdict_counts(gate_verdict_words, r.decisions);
  const std::size_t n = r.decisions.size();
  std::size_t changed = 0, silent = 0;  // silent: without times, no count has changed
  for (std::size_t i = 0; i < n; ++i) changed += counts_changed(r, i), silent += !r.decisions[i].verdict && !counts_changed(r, i);
  if (changed > 0) add_item(out, fmt::format("counts changed in {}", changed));
  if (silent > 0) out += silent == n ? "no count has changed" : fmt::format(", no count has changed in {}", silent);
  return fmt::format("{}: {} (exit {})", counted(n, "case"), out, gate_exit(r));
}

std::string rules_text(const GateReport& r) {
  std::string words = joined(r.fail_on.verdicts, [](GateVerdict v) { return verdict_word(v); });
  if (r.fail_on.counts) add_item(words, "counts");
  return fmt::format("kind {}, limit {:g} %, fails on {}", r.kind, 100 * r.rules.limit, words.empty() ? "nothing" : words);
}

std::string intervals_sentence(const GateReport& r) {
  int least = 0, most = 0, cases = 0;
  for (const GateCase& c : r.decisions) {
    if (c.estimate.blocks == 0) continue;
    least = least == 0 ? c.estimate.blocks : std::min(least, c.estimate.blocks);
    most = std::max(most, c.estimate.blocks);
    ++cases;
  }
  if (cases == 0) return r.timed ? "No time was compared." : "No time was measured.";
  const std::string holm = cases > 1 ? fmt::format(" and wider by Holm's correction over {} cases", cases) : "";
  const std::string blocks = least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most);
  if (r.stored_sessions > 0)
    return fmt::format("Ratio: candidate / stored baseline, {} time. Intervals: {:g} %{}, Welch's t over n = {} blocks of {} repetitions and "
                       "{} stored session{}, with a spread of {:.1f} % from session to session; same: within {:g} %.",
                       r.measured.empty() ? "cpu" : r.measured[0].clock, 100 * (1 - r.rules.alpha),
                       holm, blocks, pairs_per_block, r.stored_sessions, r.stored_sessions == 1 ? "" : "s", 100 * r.rules.drift, 100 * r.rules.same) +
           (r.out_of_time ? " Stopped by --max-seconds." : "");
  return fmt::format("Ratio: candidate / baseline, {} time. Intervals: {:g} %{}, Student t over n = {} blocks of {} pairs.",
                     r.measured.empty() ? "cpu" : r.measured[0].clock, 100 * (1 - r.rules.alpha),
                     holm, blocks, pairs_per_block) +
         (r.out_of_time ? " Stopped by --max-seconds." : "");
}

std::string case_sentence(const GateReport& r, std::size_t i) {
  const GateCase& c = r.decisions[i];
  const GateMeasurement& m = r.measured[i];
  std::vector<std::string> parts;
  const std::string refusals = c.refusals.text();
  const std::string ratio =
      c.estimate.blocks > 0 ? fmt::format("{} {} times the baseline's time", ratio_text(c.estimate), interval_text(c.estimate)) : "";
  if (c.verdict) switch (*c.verdict) {
      case GateVerdict::different:
        parts.push_back(fmt::format("different: checksum {} where the baseline has {}", checksum_text(m.candidate_checksum),
                                    checksum_text(m.checksum)));
        if (!ratio.empty()) parts.push_back(ratio);
        if (!refusals.empty()) parts.push_back(refusals);
        break;
      case GateVerdict::failed: parts.push_back("failed: " + refusals); break;
      case GateVerdict::skipped: parts.push_back("skipped: " + refusals); break;
      case GateVerdict::slower: parts.push_back(fmt::format("slower: {}, limit {:g}", ratio, 1 + r.rules.limit)); break;
      case GateVerdict::faster: parts.push_back(fmt::format("faster: {}", ratio)); break;
      case GateVerdict::void_control:
        parts.push_back(fmt::format("void: the second baseline process took {} {} times the first one's time; the host was too noisy",
                                    ratio_text(c.control_estimate), interval_text(c.control_estimate)));
        break;
      case GateVerdict::same: parts.push_back(fmt::format("same: {}", ratio)); break;
      case GateVerdict::inconclusive:
        parts.push_back(ratio.empty()
                            ? uncounted_text(m)
                            : fmt::format("inconclusive: {}; {}", ratio, found_text(smallest_found(c.estimate, r.rules), c.estimate.blocks)));
        break;
    }
  for (const GateCount& count : m.counts)
    if (count.reported()) parts.push_back(count_text(count));
  if (m.checksum_varies) parts.push_back("the baseline's checksums vary and are not compared");
  for (const GateCount& count : m.counts)
    if (!count.exact) parts.push_back(fmt::format("counts of {} of one side differ, so they are not compared", count.what));
  if (parts.empty()) parts.push_back("no count has changed by more than 0.5 %");
  return joined(parts, {}, "; ");
}

Findings gate_findings(const GateReport& r) {
  Findings out{
      r.kind, outcome_text(r), rules_text(r), {{"baseline", r.baseline}, {"candidate", r.candidate}, {"host", r.host}}, {}, r.left_out,
      {},     r.seconds};
  for (const std::size_t i : worst_first(r))
    out.found.push_back({r.decisions[i].name, verdict_word(r, i), case_sentence(r, i), failure_word(r, i), notable(r, i),
                         1e-9 * r.measured[i].baseline_ns, !compared(r, i) && !fails(r, i)});
  return out;
}

}  // namespace odrpo
