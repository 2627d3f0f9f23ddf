// `gate FILE.h5`: does a result file keep the limits that its suite sets in [gate]?
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "gate/options.hpp"
#include "gate/decide/limits.hpp"
#include "gate/report/finding.hpp"
#include "results/stats/gate_limit.hpp"

namespace odrpo {

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
/// Reads the file, judges its limits, prints and writes the reports. The exit code: 0, 10 where one fails, 11 where one is inconclusive and
/// --fail-on says so. Failure no_baseline where there are no limits, or none can be
/// measured; as read_results().
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
