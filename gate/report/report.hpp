// Defines a gate's report and its forms: a page of text, JSON, Markdown with a figure, findings for CI systems.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gate/decide/decide.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {

// Findings of a gate of any kind for CI systems: JUnit, annotations of GitHub, a job summary.

/// A case, a cell or a limit. Texts come from programs and files: not printable.
struct Finding {
  std::string name, verdict, sentence;  ///< the sentence says why it has its verdict; printable
  std::string failure;                  ///< the word for which it fails, mostly the verdict; empty: it does not
  bool notable = false;                 ///< needs an explanation, though it may not fail
  double seconds = 0;
  bool skipped = false;  ///< was not compared, and does not fail
};

/// A case that is not compared, and why: "only the baseline has it"; of --save: "failed: the baseline says: …".
struct GateLeftOut {
  std::string name, why;
};

struct Findings {
  std::string kind;                                        ///< "worker", "science"
  std::string outcome, rules;                              ///< one line each
  std::vector<std::pair<std::string, std::string>> about;  ///< what was compared: {"baseline", "./worker"}
  std::vector<Finding> found;                              ///< worst first
  std::vector<GateLeftOut> left_out;
  std::vector<std::string> notes;  ///< sentences below the table
  double seconds = 0;              ///< of the whole gate
  std::string command = "gate";    ///< that found them
};

/// JUnit's XML: a test case each; failing ones have a failure; skipped and left-out ones are skipped.
std::string findings_junit(const Findings& findings);
/// GitHub's workflow commands ("::error title=…::…"), at most 10 lines: errors for failing findings, warnings for other notable ones.
std::string findings_annotations(const Findings& findings);
/// A summary of a CI job: a table of verdicts and sentences.
std::string findings_markdown(const Findings& findings);

/// Text for a cell or a line of Markdown, in which no markup of Markdown or HTML has an effect.
std::string markdown_text(std::string_view text);

/// A count of a case's repetition on both sides: "instructions", "allocations".
struct GateCount {
  std::string what;
  std::string by;  ///< what has counted: "perf events", "callgrind", …
  double baseline = 0, candidate = 0;
  bool exact = true;  ///< the counts of each side agree (count_of()); else they say nothing
  double least[2] = {}, most[2] = {};  ///< totals of baseline and candidate; of a stored baseline both are its count

  double change() const;  ///< candidate / baseline - 1; 0 where both are 0, infinity where only the baseline is
  bool reported() const;  ///< exact, changed by more than reported_change and count_noise(), and the totals of the sides do not overlap
};
inline constexpr double reported_change = 0.005;
/// Differences of counts up to this mean nothing: a request allocates a few times more or less by the digits of its numbers.
double count_noise(std::string_view what);

/// A case of the gate beside its decision (GateReport::decisions at the same place).
struct GateMeasurement {
  long long repeat = 1;     ///< units of work in a repetition, fixed from the baseline
  double baseline_ns = 0;   ///< of a repetition: median over blocks of the block's median
  std::string clock;        ///< whose time: "cpu", "wall", "the worker's own", "the benchmark's"
  std::vector<double> cpu;  ///< kind process: [blocks] ln(candidate / baseline) of CPU time; else empty
  std::vector<GateCount> counts;
  std::string checksum;            ///< of the baseline; empty: the worker has none
  std::string candidate_checksum;  ///< the first that differs from it; else the same
  bool checksum_varies = false;    ///< the baseline's differ from repetition to repetition: not compared
};

/// Words of --fail-on: every verdict but same, and a change of counts. `different` includes a candidate that fails. The default is that of
/// a gate that measures times.
struct GateFailOn {
  std::vector<GateVerdict> verdicts = {GateVerdict::slower, GateVerdict::different};
  bool counts = false;
};

struct GateReport {
  std::string kind;                 ///< self, benchmark, worker or process
  std::string baseline, candidate;  ///< commands, as given; not printable
  GateRules rules;
  GateFailOn fail_on;
  std::vector<GateCase> decisions;  ///< all with a verdict, unless timed is false
  std::vector<GateMeasurement> measured;
  std::vector<GateLeftOut> left_out;
  bool out_of_time = false;    ///< --max-seconds came before a verdict on every case
  int stored_sessions = 0;     ///< against a stored baseline: sessions of its times; 0: pairs were measured
  bool timed = true;           ///< false: only counts and checksums were compared
  std::string counted_by;      ///< what has counted instructions, by say_counted_by()
  std::string allocations_by;  ///< the same of allocations
  std::string host;            ///< "AMD EPYC, 2 cores, load 0.3"
  std::uint64_t seed = 0;      ///< of the order within pairs
  double seconds = 0;          ///< of the whole gate
};

/// Sets counted_by and allocations_by. "none: <why>" where no case has such a count; "callgrind (3 of 9 cases; the others: <why>)" where
/// some have. Adds in how many cases the counts of one side differ.
void say_counted_by(GateReport& report, const std::string& no_instructions, const std::string& no_allocations);
/// True if no side refuses this case.
bool compared(const GateReport& report, std::size_t i);
/// True if a count of this case has changed enough to be reported.
bool counts_changed(const GateReport& report, std::size_t i);
/// True if this case needs an explanation: a verdict other than same and faster, or a changed count.
bool notable(const GateReport& report, std::size_t i);
/// True if the case has an exact count of this kind that is above the noise on a side.
bool counted(const GateMeasurement& measurement, std::string_view what);
/// "nothing was counted: …", where no case has such a count; else empty.
std::string why_nothing_counted(const GateReport& report);
/// Judges a gate without times. A case is inconclusive if no instructions were compared and no count has changed: it may do any amount of
/// work. Failure no_baseline where nothing was counted, no checksum differs and the candidate fails no case.
void judge_counts(GateReport& report);

/// Places of the cases, worst first. Order: verdict (different, failed by the candidate, slower, void, inconclusive, failed otherwise,
/// skipped, faster, same), then cases with changed counts,
/// then the ratio's lower bound, highest first.
std::vector<std::size_t> worst_first(const GateReport& report);

/// True if this case fails by `fail_on`. Exit code 10: different, failed, slower, faster and counts; 11: void, inconclusive and skipped. A
/// failed case fails only by the candidate's fault.
bool fails(const GateReport& report, std::size_t i);
bool fails_by_verdict(const GateReport& report, std::size_t i);  ///< and not by counts alone
/// ok; different (10) where a case fails by another verdict than void, inconclusive or skipped, or by counts; else inconclusive (11).
int gate_exit(const GateReport& report);

/// 80 columns: what was compared, one line a case (ratio, interval, verdict; counts that changed), worst first, and the outcome.
std::string gate_text(const GateReport& report);
/// Everything with all blocks, so that decisions can be computed again (`out_of_time`: the last look came after the blocks there are).
std::string gate_json(const GateReport& report);
/// The cases as findings, worst first.
Findings gate_findings(const GateReport& report);
/// A summary of a CI job; `svg`: the address of the figure beside it, empty = none.
std::string gate_markdown(const GateReport& report, const std::string& svg);
/// The intervals as an SVG of its own.
std::string gate_svg(const GateReport& report);

// Words and numbers that the forms of a gate's report share.

/// One printable line of at most `width` columns; what is too long loses its middle. Hostile text in, harmless text out.
std::string short_text(std::string_view text, std::size_t width);

/// Replaces what a CI system reads as a command: at the beginning of a line ("::stop-commands::x") or in it ("##[error]", "##vso[…]").
std::string without_ci_commands(std::string text);

/// Line and column (in bytes) of a byte of a text; all from 1.
struct TextPlace {
  std::size_t line, column;
};
TextPlace place_of(std::string_view text, std::size_t byte);

/// JSON in whose texts such words are escaped.
std::string ci_safe_json(std::string json);

/// "1 slower, 2 same": how many have each verdict.
template <class Words, class List>
std::string verdict_counts(const Words& words, const List& list) {
  std::string out;
  for (const auto& w : words)
    if (const auto n = std::count_if(list.begin(), list.end(), [&](const auto& x) { return x.verdict == w.value; }); n > 0)
      add_item(out, fmt::format("{} {}", n, w.word));
  return out;
}

std::string verdict_word(GateVerdict verdict);  ///< "slower"
std::string verdict_word(const GateReport& report, std::size_t i);  ///< "counts" where time was not measured and counts changed, else "-"
/// Why a case fails: its verdict's word, or "counts"; empty where it does not.
std::string failure_word(const GateReport& report, std::size_t i);
std::string ratio_text(const GateEstimate& estimate);     ///< "1.052"; "1.23e+04"
std::string interval_text(const GateEstimate& estimate);  ///< "[1.043, 1.061]"
std::string checksum_text(const std::string& checksum);   ///< at most 20 columns; "none"
std::string count_text(const GateCount& count);           ///< "instructions +3.1 % (1,234 to 1,272)"
/// One line that says why the case has its verdict: "slower: 1.052 [1.043, 1.061] times the baseline's time, limit 1.01". Printable.
std::string case_sentence(const GateReport& report, std::size_t i);
/// "1 of 24 cases slower, 1 different (exit 10)"
std::string outcome_text(const GateReport& report);
/// "kind worker, limit 1 %, fails on slower, different"
std::string rules_text(const GateReport& report);
/// How many cases and blocks, and what intervals are.
std::string intervals_sentence(const GateReport& report);

}  // namespace odrpo
