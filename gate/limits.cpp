// `gate FILE.h5`: limits of a suite, stored and read back, and judged.
#include "gate/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "gate/flags.hpp"
#include "gate/options.hpp"
#include "gate/report/output.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/terminal.hpp"
#include "results/store/store.hpp"

namespace odrpo {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_limits = 10'000;

GateLimit parse_limit(const Json& json) {
  GateLimit limit;
  const std::string value = json.at("value");
  const auto* const found =
      std::find_if(std::begin(limited_columns), std::end(limited_columns), [&](const LimitedColumn& c) { return c.word == value; });
  if (found == std::end(limited_columns)) throw std::runtime_error("unknown value");
  limit.value = found->value;
  limit.axis = json.at("axis");
  limit.row = json.at("row");
  limit.over = json.value("over", "");
  limit.where = json.value("where", std::vector<std::string>());
  if (json.contains("at_most")) limit.at_most = json["at_most"].get<double>();
  if (json.contains("at_least")) limit.at_least = json["at_least"].get<double>();
  if (!limit.at_most && !limit.at_least) throw std::runtime_error("no limit");
  return limit;
}

std::vector<std::string> limit_columns(const ResultFile& head) {
  std::vector<std::string> columns;
  for (const LimitedColumn& c : limited_columns)
    if (head.info(c.column) != nullptr) columns.emplace_back(c.column);
  return columns;
}

}  // namespace

std::string gate_limit_lines(const std::vector<GateLimit>& limits) {
  std::string out;
  for (const GateLimit& limit : limits) {
    Json json = {{"value", column_of(limit.value).word}, {"axis", limit.axis}, {"row", limit.row}};
    if (!limit.over.empty()) json["over"] = limit.over;
    if (!limit.where.empty()) json["where"] = limit.where;
    if (limit.at_most) json["at_most"] = *limit.at_most;
    if (limit.at_least) json["at_least"] = *limit.at_least;
    out += json.dump() + '\n';
  }
  return out;
}

std::vector<GateLimit> parse_gate_limits(std::string_view lines, const std::string& path) {
  std::vector<GateLimit> out;
  try {
    for (std::size_t at = 0; at < lines.size();) {
      const std::size_t end = std::min(lines.find('\n', at), lines.size());
      if (end > at) out.push_back(parse_limit(Json::parse(lines.substr(at, end - at))));
      at = end + 1;
      if (out.size() > most_limits) throw std::runtime_error("too many");
    }
  } catch (const std::exception&) {  // JSON's, and ours
    throw Failure(Exit::bad_input, fmt::format("{}: the limits that it stores (provenance/gate) are none", printable_line(path)));
  }
  return out;
}

int limits_exit(const LimitsReport& r) {
  Exit exit = Exit::ok;
  for (const LimitResult& result : r.results) {
    if (std::find(r.fail_on.begin(), r.fail_on.end(), result.verdict) == r.fail_on.end()) continue;
    if (result.verdict == LimitVerdict::fail) return static_cast<int>(Exit::different);
    exit = Exit::inconclusive;
  }
  return static_cast<int>(exit);
}

int limits_gate(const GateOptions& o, const SuiteLimits& of_suite) {
  LimitsReport r;
  r.fail_on = read_verdicts<LimitVerdict>(o.fail_on, limit_verdict_words, LimitVerdict::pass, LimitVerdict::fail);
  const ReadLimits limits = read_limits(o.max_seconds, o.max_memory);
  check_gate_outputs(o, false);
  r.path = o.files[0];
  const ResultFile file = read_results(r.path, limit_columns, limits);
  r.suite = file.suite;
  r.digest = file.digest;
  r.runs = file.runs;
  if (const std::string* cpu = file.provenance_text("cpu")) r.host = *cpu;
  if (const std::string* jobs = file.provenance_text("jobs")) r.jobs = std::atoi(jobs->c_str());
  if (!o.suite.empty()) {
    r.limits_from = o.suite;
    r.limits = of_suite(o.suite);
  } else if (const std::string* stored = file.provenance_text("gate")) {
    r.limits = parse_gate_limits(*stored, r.path);
  }
  if (r.limits.empty())
    throw Failure(Exit::no_baseline, fmt::format("{}: nothing to judge: {} sets no limits in [gate]", printable_line(r.path),
                                                 o.suite.empty() ? "its suite" : "'" + printable_line(o.suite) + "'"));
  for (const GateLimit& limit : r.limits) r.results.push_back(judge_limit(file, limit));
  const auto told = [](const LimitResult& x) { return x.why.empty() || x.verdict != LimitVerdict::inconclusive; };
  if (std::none_of(r.results.begin(), r.results.end(), told))
    throw Failure(
        Exit::no_baseline,
        fmt::format("{}: nothing to judge: no limit of {} can be measured there; the first, {}: {}", printable_line(r.path),
                    o.suite.empty() ? "its suite" : "'" + printable_line(o.suite) + "'", limit_name(r.limits[0]), r.results[0].why));
  put(o.json ? limits_json(r) : limits_text(r));
  const Findings findings = limits_findings(r);
  write_gate_outputs(o, findings, {[&](const std::string&) { return findings_markdown(findings); }, ""});
  return limits_exit(r);
}

}  // namespace odrpo
