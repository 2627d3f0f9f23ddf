// Writes what `gate FILE.h5` reports: sentences, a page of text, JSON, findings.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gate/limits.hpp"
#include "gate/report/report.hpp"
#include "kernels/shared/json.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {
namespace {

std::string_view limit_word(LimitVerdict v) { return word_of(std::span<const Word<LimitVerdict>>(limit_verdict_words), v); }

/// What is measured ("ratio", "seconds", "levels", "% of the possible"), and the factor that scales a number to it.
struct Unit {
  const char* word;
  double scale;
};
Unit unit_of(const GateLimit& limit) {
  switch (limit.value) {
    case LimitedValue::step_time: return limit.over.empty() ? Unit{"s", 1} : Unit{"times", 1};
    case LimitedValue::quality: return {"levels", 1};
    case LimitedValue::gain: break;
  }
  return {"% of the possible", 100};
}

std::string number_text(const GateLimit& limit, double value) { return fmt::format("{:.4g}", unit_of(limit).scale * value); }

std::string bound_text(const GateLimit& limit) {
  std::string out;
  if (limit.at_least && limit.at_most)
    return fmt::format(" from {} to {}", number_text(limit, *limit.at_least), number_text(limit, *limit.at_most));
  if (limit.at_least) out += " >= " + number_text(limit, *limit.at_least);
  if (limit.at_most) out += " <= " + number_text(limit, *limit.at_most);
  return out;
}

/// Worst first.
std::vector<std::size_t> order_of(const LimitsReport& r) {
  std::vector<std::size_t> order(r.results.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return r.results[a].verdict < r.results[b].verdict; });
  return order;
}

std::string rules_line(const LimitsReport& r) {
  return fmt::format("limits of {}, fails on {}", r.limits_from.empty() ? "the suite" : "'" + printable_line(r.limits_from) + "'",
                     r.fail_on.empty() ? "nothing" : joined(r.fail_on, limit_word));
}

std::vector<std::string> notes_of(const LimitsReport& r) {
  std::vector<std::string> notes = {
      "Means over seeds, each of all its runs or pairs, with Student t intervals at 95 %. Pass: the interval lies within the limit; fail: "
      "it "
      "lies beyond, or a run of the row has failed; inconclusive: it holds the limit."};
  const bool times = std::any_of(r.limits.begin(), r.limits.end(), [](const GateLimit& l) { return l.value == LimitedValue::step_time; });
  if (!times) return notes;
  notes.emplace_back("Ratios of step times are geometric means.");
  if (r.jobs > 1)
    notes.push_back(
        fmt::format("Up to {} runs were trained beside each other, which changes their step times: --jobs 1 does not.", r.jobs));
  return notes;
}

}  // namespace

std::string limit_name(const GateLimit& limit) {
  std::string out = fmt::format("{} {}{}", column_of(limit.value).word, limit.axis == "estimator" ? "" : limit.axis + " ", limit.row);
  if (!limit.over.empty()) out += fmt::format(" {} {}", limit.value == LimitedValue::step_time ? "/" : "-", limit.over);
  out += bound_text(limit);
  if (!limit.where.empty()) out += fmt::format(" ({})", fmt::join(limit.where, ", "));
  return printable_line(out);
}

std::string limit_sentence(const GateLimit& limit, const LimitResult& result) {
  std::string failed;
  if (result.failed > 0) failed += fmt::format("; {} of the row failed", runs_text(static_cast<std::size_t>(result.failed)));
  if (result.failed_over > 0)
    failed += fmt::format("; {} that it is compared with failed", runs_text(static_cast<std::size_t>(result.failed_over)));
  if (!result.why.empty()) return fmt::format("{}: not measured: {}{}", limit_word(result.verdict), result.why, failed);
  const MeanInterval& m = result.measured;
  std::string out = fmt::format("{}: {} {}", limit_word(result.verdict), number_text(limit, m.mean), unit_of(limit).word);
  if (m.n > 1) out += fmt::format(" [{}, {}]", number_text(limit, m.lo), number_text(limit, m.hi));
  out += fmt::format(", limit{}, n = {} seed{} of {} {}{}", bound_text(limit), m.n, m.n == 1 ? " (no interval)" : "s", result.cells,
                     limit.over.empty() ? "run" : "pair", result.cells == 1 ? "" : "s");
  if (result.left_out > 0) out += fmt::format("; {} left out, where a run failed or has no value", result.left_out);
  return out + failed;
}

std::string limits_outcome(const LimitsReport& r) {
  return fmt::format("{}: {} (exit {})", counted(r.limits.size(), "limit"), verdict_counts(limit_verdict_words, r.results), limits_exit(r));
}

std::string limits_text(const LimitsReport& r) {
  std::string out = paragraph("gate: " + rules_line(r), 0, 2);
  out += paragraph(fmt::format("{}: suite {}, {}, digest {}; {}", printable_line(r.path), printable_line(r.suite), runs_text(r.runs),
                               printable_line(r.digest.substr(0, 12)), printable_line(r.host)),
                   0, 2);
  out += '\n';
  for (const std::size_t i : order_of(r)) {
    out += paragraph(limit_name(r.limits[i]), 0, 2);
    const std::string sentence = limit_sentence(r.limits[i], r.results[i]), word = sentence.substr(0, sentence.find(':'));
    const Paint paint = verdict_paint(r.results[i].verdict == LimitVerdict::fail, r.results[i].verdict != LimitVerdict::pass);
    out += paragraph(painted(word, paint) + sentence.substr(word.size()), 2, 2);
  }
  out += '\n';
  for (const std::string& note : notes_of(r)) out += paragraph(note, 0);
  out += '\n' + painted(limits_outcome(r), verdict_paint(limits_exit(r) != 0)) + '\n';
  return without_ci_commands(std::move(out));
}

std::string limits_json(const LimitsReport& r) {
  Json limits = Json::array(), fail_on = Json::array();
  for (const LimitVerdict v : r.fail_on) fail_on.push_back(limit_word(v));
  for (const std::size_t i : order_of(r)) {
    const GateLimit& limit = r.limits[i];
    const LimitResult& x = r.results[i];
    limits.push_back({{"limit", limit_name(limit)},
                      {"verdict", limit_word(x.verdict)},
                      {"fails", std::find(r.fail_on.begin(), r.fail_on.end(), x.verdict) != r.fail_on.end()},
                      {"sentence", limit_sentence(limit, x)},
                      {"value", column_of(limit.value).word},
                      {"axis", limit.axis},
                      {"row", limit.row},
                      {"over", limit.over.empty() ? Json() : Json(limit.over)},
                      {"where", limit.where},
                      {"at_most", limit.at_most ? Json(*limit.at_most) : Json()},
                      {"at_least", limit.at_least ? Json(*limit.at_least) : Json()},
                      {"measured", x.why.empty() ? Json(x.measured.mean) : Json()},
                      {"lo", x.why.empty() ? Json(x.measured.lo) : Json()},
                      {"hi", x.why.empty() ? Json(x.measured.hi) : Json()},
                      {"seeds", x.measured.n},
                      {"cells", x.cells},
                      {"left_out", x.left_out},
                      {"failed", x.failed},
                      {"failed_over", x.failed_over},
                      {"not_measured", x.why.empty() ? Json() : Json(x.why)}});
  }
  const Json out = {{"kind", "limits"},
                    {"exit", limits_exit(r)},
                    {"outcome", limits_outcome(r)},
                    {"file", r.path},
                    {"suite", r.suite},
                    {"digest", r.digest},
                    {"host", r.host},
                    {"jobs", r.jobs > 0 ? Json(r.jobs) : Json()},
                    {"limits_from", r.limits_from.empty() ? Json() : Json(r.limits_from)},
                    {"fail_on", fail_on},
                    {"limits", limits}};
  return ci_safe_json(out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

Findings limits_findings(const LimitsReport& r) {
  Findings out{"limits", limits_outcome(r), rules_line(r), {{"file", r.path}, {"suite", r.suite}, {"host", r.host}}, {}, {}, notes_of(r),
               0};
  for (const std::size_t i : order_of(r)) {
    const LimitVerdict v = r.results[i].verdict;
    const std::string word(limit_word(v));
    const bool fails = std::find(r.fail_on.begin(), r.fail_on.end(), v) != r.fail_on.end();
    out.found.push_back(
        {limit_name(r.limits[i]), word, limit_sentence(r.limits[i], r.results[i]), fails ? word : "", v != LimitVerdict::pass, 0});
  }
  return out;
}

}  // namespace odrpo
