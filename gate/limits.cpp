// `gate FILE.h5`: limits of a suite, stored and read back, and judged by means over seeds.
#include "gate/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "gate/flags.hpp"
#include "gate/options.hpp"
#include "gate/report/output.hpp"
#include "kernels/shared/json.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"
#include "results/store/store.hpp"
#include "results/table/dimensions.hpp"
#include "results/table/table.hpp"

namespace odrpo {
namespace {

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
    for (const std::string& line : lines_of(lines)) {
      if (!line.empty()) out.push_back(parse_limit(Json::parse(line)));
      if (out.size() > most_limits) throw std::runtime_error("too many");
    }
  } catch (const std::exception&) {  // JSON's, and ours
    fail(Exit::bad_input, "{}: the limits that it stores (provenance/gate) are none", path);
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
    fail(Exit::no_baseline, "{}: nothing to judge: {} sets no limits in [gate]", r.path,
         o.suite.empty() ? "its suite" : "'" + o.suite + "'");
  for (const GateLimit& limit : r.limits) r.results.push_back(judge_limit(file, limit));
  const auto told = [](const LimitResult& x) { return x.why.empty() || x.verdict != LimitVerdict::inconclusive; };
  if (std::none_of(r.results.begin(), r.results.end(), told))
    fail(Exit::no_baseline, "{}: nothing to judge: no limit of {} can be measured there; the first, {}: {}", r.path,
         o.suite.empty() ? "its suite" : "'" + o.suite + "'", limit_name(r.limits[0]), r.results[0].why);
  put(o.json ? limits_json(r) : limits_text(r));
  const Findings findings = limits_findings(r);
  write_gate_outputs(o, findings, {[&](const std::string&) { return findings_markdown(findings); }, ""});
  return limits_exit(r);
}

// Does a result file keep a limit? Means over seeds of runs, or of runs paired with those of another row.

namespace {

/// Of each combination of all other dimensions, and of each seed, the value of a row; NaN where its run failed.
struct RowValues {
  std::map<std::uint32_t, std::map<double, double>> of;
  int failed = 0;
};

ResultFile runs_of(const ResultFile& file, const std::vector<std::string>& where) {
  std::vector<ChosenRuns> chosen;
  for (const std::string& word : where) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) fail(Exit::usage, "where: \"{}\" is not AXIS=VALUE", printable_text(word));
    chosen.push_back({word.substr(0, equals), {word.substr(equals + 1)}});
  }
  return chosen_runs(file, chosen);
}

RowValues values_of(const ResultFile& file, const Dimension& axis, const Combinations& cells, const Column& column,
                    const std::string& row) {
  const std::string entry = entry_named(axis.entries, printable_text(row));
  const Column& seed = read_column(file, "seed", true);
  RowValues out;
  for (std::size_t i = 0; i < file.runs; ++i) {
    if (axis.entries[axis.code[i]] != entry) continue;
    out.of[cells.of(i)][seed.number[i]] = file.ok(i) ? column.number[i] : std::nan("");
    out.failed += !file.ok(i);
  }
  if (out.of.empty()) fail(Exit::usage, "no run has {} \"{}\"\nThere are: {}", axis.name, entry, fmt::join(axis.entries, ", "));
  return out;
}

/// What is averaged of a cell and seed; NaN where a run has no such value.
double compared(const GateLimit& limit, double row, double over) {
  return limit.over.empty() ? row : limit.value == LimitedValue::step_time ? std::log(row / over) : row - over;
}

LimitResult measure(const ResultFile& file, const GateLimit& limit) {
  const std::vector<Dimension> dimensions = dimensions_of(file);
  std::vector<std::string> names;
  for (const Dimension& d : dimensions) names.push_back(d.name);
  const std::string name = dimension_named(names, limit.axis, "axis");
  std::vector<const Dimension*> others;
  const Dimension* axis = nullptr;
  for (const Dimension& d : dimensions)
    if (d.name == name) axis = &d;
    else others.push_back(&d);
  if (axis == nullptr) fail(Exit::usage, "the values of a table are no axis of its runs");
  const Column* column = file.column(column_of(limit.value).column);
  if (column == nullptr || !column->numeric) fail(Exit::usage, "no run has a {}", column_of(limit.value).word);
  const Combinations cells = combinations_of(others, file.runs);
  const RowValues rows = values_of(file, *axis, cells, *column, limit.row);
  const RowValues over = limit.over.empty() ? rows : values_of(file, *axis, cells, *column, limit.over);
  std::set<double> seeds;
  for (const auto& [cell, of] : rows.of)
    for (const auto& [seed, value] : of) seeds.insert(seed);
  LimitResult out;
  out.failed = rows.failed;
  out.failed_over = limit.over.empty() ? 0 : over.failed;
  std::map<double, double> sums;
  for (const auto& [cell, of] : rows.of) {
    const auto other = over.of.find(cell);
    if (other == over.of.end()) continue;  // this combination has no such row: as an axis that another estimator lacks
    std::map<double, double> here;
    for (const auto& [seed, value] : of) {
      const auto beside = other->second.find(seed);
      const double x = beside == other->second.end() ? std::nan("") : compared(limit, value, beside->second);
      if (std::isfinite(x)) here[seed] = x;
    }
    if (here.size() < seeds.size()) {
      ++out.left_out;
      continue;
    }
    ++out.cells;
    for (const auto& [seed, x] : here) sums[seed] += x;
  }
  if (out.cells == 0) {
    out.why = out.left_out > 0 ? "every cell has a run that failed, or has no such value" : "no two runs can be paired";
    return out;
  }
  std::vector<double> means;
  for (const auto& [seed, sum] : sums) means.push_back(sum / out.cells);
  out.measured = mean_interval(means);
  if (!limit.over.empty() && limit.value == LimitedValue::step_time)
    for (double* x : {&out.measured.mean, &out.measured.lo, &out.measured.hi}) *x = std::exp(*x);
  return out;
}

}  // namespace

LimitResult judge_limit(const ResultFile& file, const GateLimit& limit) {
  LimitResult out;
  try {
    out = limit.where.empty() ? measure(file, limit) : measure(runs_of(file, limit.where), limit);
  } catch (const Failure& failure) {
    if (failure.code != Exit::usage) throw;
    out.why = printable_text(failure.what());
    return out;
  }
  if (out.failed > 0) out.verdict = LimitVerdict::fail;
  if (!out.why.empty() || out.failed > 0) return out;
  const MeanInterval& m = out.measured;  // one seed has no interval: all comparisons with NaN are false
  if ((limit.at_most && m.lo > *limit.at_most) || (limit.at_least && m.hi < *limit.at_least)) out.verdict = LimitVerdict::fail;
  else if (m.n > 1 && out.failed_over == 0 && (!limit.at_most || m.hi <= *limit.at_most) && (!limit.at_least || m.lo >= *limit.at_least))
    out.verdict = LimitVerdict::pass;
  return out;
}

}  // namespace odrpo
