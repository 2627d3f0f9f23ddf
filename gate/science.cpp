// Reads two result files, refuses files that cannot be compared, and reports: `gate --science`.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string_view>

#include "gate/flags.hpp"
#include "gate/options.hpp"
#include "gate/programs.hpp"
#include "gate/report/output.hpp"
#include "gate/report/report.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/terminal.hpp"
#include "results/store/store.hpp"

namespace odrpo {
namespace {

constexpr const char* curve = "quality";
constexpr std::size_t most_listed = 20;  // settings that differ

/// "quality=.02", "gain=0.5%", "steps=10%".
ScienceMargins read_margins(const std::vector<std::string>& given) {
  ScienceMargins margins = science_margins;
  for (const std::string& text : given) {
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string name = text.substr(0, equals), value = text.substr(std::min(equals + 1, text.size()));
    const auto* const found = std::find(science_metric_names.begin(), science_metric_names.end(), name);
    if (found == science_metric_names.end())
      fail(Exit::usage, "--margin: \"{}\" does not begin with quality=, gain= or steps={}", text,
           did_you_mean(name, {science_metric_names.begin(), science_metric_names.end()}));
    const auto metric = found - science_metric_names.begin();
    const auto number = read_share(value);
    if (!number || !(*number > 0) || (metric == science_quality && value.find('%') != std::string::npos))
      fail(Exit::usage, "--margin: \"{}\" is no {} above 0", text,
           metric == science_quality ? "number of levels" : "share such as 0.5% or 0.005");
    margins[static_cast<std::size_t>(metric)] = *number;
  }
  return margins;
}

/// True if a run that both files have names this world, rater or policy.
bool named_by_common_run(const std::array<const ResultFile*, 2>& files, const char* column, std::string_view name) {
  const Column* const names = files[0]->column(column);
  if (names == nullptr || names->numeric) return true;
  const Column &ids = *files[0]->column("id"), &others = *files[1]->column("id");
  std::set<std::string_view> theirs;
  for (std::size_t j = 0; j < files[1]->runs; ++j) theirs.insert(others.text(j));
  for (std::size_t i = 0; i < files[0]->runs; ++i)
    if (names->text(i) == name && theirs.contains(ids.text(i))) return true;
  return false;
}

/// True for settings that change no common run: which runs there are, how they are shown, and unused worlds, raters and policies.
bool changes_no_run(std::string_view key, const std::array<const ResultFile*, 2>& files) {
  if (key == "suite.seed" || key == "suite.seeds") return true;
  for (const std::string_view table : {"grid.", "table.", "gate.", "limits."})
    if (key.starts_with(table)) return true;
  for (const char* table : {"env", "rater", "policy"}) {
    if (!key.starts_with(fmt::format("{}.", table))) continue;
    const std::string_view rest = key.substr(std::string_view(table).size() + 1);
    return !named_by_common_run(files, table, rest.substr(0, rest.find('.')));
  }
  return false;
}

/// Failure no_baseline, with what differs, unless runs of one id have one configuration, apart from the suite's seed.
void check_comparable(const ScienceReport& r, const std::array<const ResultFile*, 2>& files) {
  const auto refuse = [](const std::string& text) { throw Failure(Exit::no_baseline, text); };
  if (r.file[0].suite != r.file[1].suite)
    refuse(fmt::format("nothing can be compared: OLD is of suite \"{}\", NEW of \"{}\"", printable_line(r.file[0].suite),
                       printable_line(r.file[1].suite)));
  if (r.diff.common == 0) refuse("nothing can be compared: the two files have no run in common");
  if (r.diff.other_key == 0) return;  // texts may differ, but every run has the same settings
  std::string list;
  std::size_t count = 0;
  for (const SettingDiff& s : r.diff.settings) {
    if (changes_no_run(s.key, files) || ++count > most_listed) continue;
    const auto shown = [](const std::string& value) { return value.empty() ? std::string("not set") : value; };
    list += fmt::format("\n  {}: {} in OLD, {} in NEW", s.key, short_text(shown(s.a), 100), short_text(shown(s.b), 100));
  }
  if (count > most_listed) list += fmt::format("\n  and {} more", count - most_listed);
  if (count > 0) refuse("nothing can be compared: settings differ" + list);
  if (!r.other_seed) refuse(fmt::format("nothing can be compared: {} runs have another configuration", r.diff.other_key));
}

std::vector<RunCurve> curves_of(const ResultFile& file, const std::string& path, const ReadLimits& limits) {
  std::vector<std::uint32_t> rows(file.runs);
  std::iota(rows.begin(), rows.end(), 0U);
  return read_curve(path, curve, rows, file.digest, limits);
}

/// Reads the curves for the steps, or says why steps are not compared.
void read_curves(ScienceReport& r, const ResultFile& a, const ResultFile& b, const ReadLimits& limits, std::vector<RunCurve>& of_a,
                 std::vector<RunCurve>& of_b) {
  if (r.other_seed) {
    r.no_steps = "the suites have different seeds, so OLD's gain says nothing about NEW's worlds";
    return;
  }
  try {
    of_a = curves_of(a, r.file[0].path, limits);
    of_b = curves_of(b, r.file[1].path, limits);
  } catch (const Failure& failure) {
    if (failure.code != Exit::usage) throw;
    r.no_steps = fmt::format("a file has no curve \"{}\"", curve);
  }
}

}  // namespace

bool science_fails(const ScienceReport& r, const ScienceCell& cell) {
  return std::find(r.fail_on.begin(), r.fail_on.end(), cell.verdict) != r.fail_on.end();
}

int science_exit(const ScienceReport& r) {
  Exit exit = Exit::ok;
  for (const ScienceCell& cell : r.comparison.cells) {
    if (!science_fails(r, cell)) continue;
    if (cell.verdict == ScienceVerdict::moved) return static_cast<int>(Exit::different);
    exit = Exit::inconclusive;
  }
  return static_cast<int>(exit);
}

int science_gate(const GateOptions& o) {
  ScienceReport r;
  r.margins = read_margins(o.margin);
  r.fail_on = read_verdicts<ScienceVerdict>(o.fail_on, science_verdict_words, ScienceVerdict::same, ScienceVerdict::moved);
  const ReadLimits limits = read_limits(o.max_seconds, o.max_memory);
  check_gate_outputs(o, false);
  const std::string &old_path = o.files[0], &new_path = o.files[1];
  const ResultFile a = read_results(old_path, science_columns, limits), b = read_results(new_path, science_columns, limits);
  r.file = {{{old_path, a.suite, a.digest, a.runs}, {new_path, b.suite, b.digest, b.runs}}};
  r.diff = diff_files(a, b);
  r.same_digest = r.diff.same_digest;
  if (!r.same_digest) {
    r.other_seed = std::any_of(r.diff.settings.begin(), r.diff.settings.end(), [](const SettingDiff& s) { return s.key == "suite.seed"; });
    check_comparable(r, {&a, &b});
    std::vector<RunCurve> of_a, of_b;
    read_curves(r, a, b, limits, of_a, of_b);
    r.comparison = compare_science({a, of_a}, {b, of_b}, r.margins);
  }
  put(o.json ? science_json(r) : science_text(r));
  const Findings findings = science_findings(r);
  write_gate_outputs(o, findings, {[&](const std::string&) { return findings_markdown(findings); }, ""});
  return science_exit(r);
}

}  // namespace odrpo
