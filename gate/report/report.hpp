// What a gate has measured and decided, and its forms: a page of text, JSON, Markdown with a figure, findings for CI systems.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gate/decide/decide.hpp"
#include "gate/report/finding.hpp"

namespace odrpo {

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
/// Counts that mean nothing: a request and its answer allocate a few times more or less by the digits of their numbers.
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

/// Words of --fail-on: every verdict but same, and a change of counts. The default is that of a gate that measures times.
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

/// Puts into counted_by and allocations_by what has counted: "none: <why>" where no case has such a count, "callgrind (3 of 9 cases; the
/// others: <why>)" where some have; and in how many cases it does not agree with itself.
void say_counted_by(GateReport& report, const std::string& no_instructions, const std::string& no_allocations);
/// Has a count of this case changed so that it is reported?
bool counts_changed(const GateReport& report, std::size_t i);
/// Has this case to be explained: a verdict other than same and faster, or a count that changed?
bool notable(const GateReport& report, std::size_t i);
/// Has the case an exact count of this that is more than noise on a side?
bool counted(const GateMeasurement& measurement, std::string_view what);
/// "nothing was counted: …", where no case has such a count; else empty.
std::string why_nothing_counted(const GateReport& report);
/// Of a gate without times: a case is inconclusive where no instructions were compared and no count has changed, since it may do any amount
/// of work then. Failure no_baseline where nothing was counted, and no checksum differs.
void judge_counts(GateReport& report);

/// Places of the cases, worst first: by verdict (different, slower, void, inconclusive, faster, same), then those whose counts changed,
/// then by the ratio's lower bound, highest first.
std::vector<std::size_t> worst_first(const GateReport& report);

/// Does this case fail by `fail_on`? Only different, slower, faster and counts are failures of exit code 10; void and inconclusive of 11.
bool fails(const GateReport& report, std::size_t i);
/// ok, different (10) where a case is so by fail_on, else inconclusive (11) where one is void or inconclusive by fail_on.
int gate_exit(const GateReport& report);

/// 80 columns: what was compared, one line a case (ratio, interval, verdict; counts that changed), worst first, and the outcome.
std::string gate_text(const GateReport& report);
/// Everything, blocks included, so that the decisions can be computed again (`out_of_time`: the last look came after the blocks there are).
std::string gate_json(const GateReport& report);
/// The cases as findings, worst first.
Findings gate_findings(const GateReport& report);
/// A summary of a CI job; `svg`: the address of the figure beside it, empty = none.
std::string gate_markdown(const GateReport& report, const std::string& svg);
/// The intervals as an SVG of its own.
std::string gate_svg(const GateReport& report);
}  // namespace odrpo
