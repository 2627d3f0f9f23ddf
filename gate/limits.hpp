// Judges whether a result file keeps the limits that its suite sets in [gate]: `gate FILE.h5`.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "gate/options.hpp"
#include "gate/report/report.hpp"
#include "kernels/shared/words.hpp"
#include "results/stats/gate_limit.hpp"
#include "results/stats/statistics.hpp"
#include "results/store/record.hpp"

namespace odrpo {

// One limit of a suite's [gate], and what a result file shows of it. Pure.

enum class LimitVerdict { fail, inconclusive, pass };
inline constexpr Word<LimitVerdict> limit_verdict_words[] = {
    {LimitVerdict::fail, "fail", "the interval lies beyond the limit, or a run of the row has failed"},
    {LimitVerdict::inconclusive, "inconclusive", "the interval holds the limit, or a run that the row is compared with has failed"},
    {LimitVerdict::pass, "pass", "the interval lies within the limit, and no run has failed"},
};

struct LimitResult {
  LimitVerdict verdict = LimitVerdict::inconclusive;
  MeanInterval measured{0, 0, 0, 0, 0};  ///< n = seeds, each the mean of its runs or pairs; a ratio is the geometric mean's. 95 %
  int cells = 0;                         ///< runs or pairs of a seed
  int left_out = 0;                      ///< cells of which a run failed, or has no such value, in some seed
  int failed = 0, failed_over = 0;       ///< runs of `row` and of `over` that failed
  std::string why;                       ///< why nothing was measured; empty: it was. Printable
};
/// `file` has read the columns of limited_columns. A row, an axis or a `where` that it lacks leaves the limit unmeasured.
LimitResult judge_limit(const ResultFile& file, const GateLimit& limit);

/// The provenance data set "gate" of a result file: a JSON object a line; empty without limits.
std::string gate_limit_lines(const std::vector<GateLimit>& limits);
/// Reads them back. Failure bad_input, which names `path`, for lines that are none.
std::vector<GateLimit> parse_gate_limits(std::string_view lines, const std::string& path);

struct LimitsReport {
  std::string path, suite, digest, host;  ///< not printable
  std::size_t runs = 0;
  int jobs = 0;             ///< runs that were trained beside each other; 0: the file does not say
  std::string limits_from;  ///< a suite file, where --suite names one; else empty
  std::vector<GateLimit> limits;
  std::vector<LimitResult> results;  ///< [limits]
  std::vector<LimitVerdict> fail_on;
};
/// The limits of the suite file that --suite names.
using SuiteLimits = std::function<std::vector<GateLimit>(const std::string& path)>;
/// Reads the file, judges its limits, prints and writes the reports. Returns 0, 10 where a limit fails, 11 where one is inconclusive and
/// --fail-on says so. Failure no_baseline where there are no limits, or none can be measured; failures of read_results().
int limits_gate(const GateOptions& options, const SuiteLimits& of_suite);

int limits_exit(const LimitsReport& report);
/// "2 limits: 1 fail, 1 pass (exit 10)"
std::string limits_outcome(const LimitsReport& report);
/// "step_time odrpo(grpo) / grpo <= 1.1"; printable.
std::string limit_name(const GateLimit& limit);
/// One printable line that says why a limit has its verdict.
std::string limit_sentence(const GateLimit& limit, const LimitResult& result);
std::string limits_text(const LimitsReport& report);
std::string limits_json(const LimitsReport& report);
Findings limits_findings(const LimitsReport& report);

}  // namespace odrpo
