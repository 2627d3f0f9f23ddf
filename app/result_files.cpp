// Compares result files (`odrpo-bench diff A.h5 B.h5`: settings, runs and values that differ) and checks them (`odrpo-bench verify`).
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <tuple>

#include "app/command.hpp"
#include "kernels/shared/json.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"
#include "results/export/file_diff.hpp"
#include "results/store/store.hpp"

namespace odrpo::app {
namespace {

std::string digest_text(const ResultFile& file) { return file.digest.empty() ? "none" : printable_line(file.digest.substr(0, 12)); }

std::string diff_text(const DiffOptions& o, const ResultFile& a, const ResultFile& b, const FileDiff& d) {
  std::string text;
  for (const auto& [which, path, file] : {std::tuple{"A", &o.a, &a}, std::tuple{"B", &o.b, &b}})
    text += paragraph(fmt::format("{} {}: suite {}, {}, digest {}", which, printable_line(*path), printable_line(file->suite),
                                  runs_text(file->runs), digest_text(*file)),
                      0, 2);
  text += painted(d.same_digest ? "equal" : "different", verdict_paint(!d.same_digest)) + (d.same_digest ? ": runs, values and curves have the same digest\n" : "\n");
  text += settings_page("settings", d.settings);
  text += settings_page("what computed them", d.programs);
  if (!d.same_digest) {
    text += fmt::format("\nruns\n  in both: {}\n", runs_text(d.common));
    if (d.other_key > 0) text += fmt::format("    with another configuration: {}\n", d.other_key);
    if (d.other_status > 0) text += fmt::format("    failed in one file alone: {}\n", d.other_status);
    text += ids_page("A", d.only_a, d.count_a) + ids_page("B", d.only_b, d.count_b);
    text += values_page(d);
  }
  return text;
}

Json settings_array(const std::vector<SettingDiff>& list) {
  Json out = Json::array();
  const auto value = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  for (const SettingDiff& s : list) out.push_back({{"key", s.key}, {"a", value(s.a)}, {"b", value(s.b)}});
  return out;
}

std::string diff_json(const DiffOptions& o, const ResultFile& a, const ResultFile& b, const FileDiff& d) {
  const auto file = [](const std::string& path, const ResultFile& f) {
    return Json{{"file", printable_line(path)}, {"suite", printable_line(f.suite)}, {"runs", f.runs}, {"digest", printable_line(f.digest)}};
  };
  Json values = Json::array();
  for (const ValueDiff& v : d.values)
    values.push_back({{"value", v.column},
                      {"runs", v.runs},
                      {"undefined", v.undefined},
                      {"mean", v.mean},
                      {"largest", v.largest},
                      {"run", v.run.empty() ? Json(nullptr) : Json(v.run)}});
  const Json out{{"equal", d.same_digest},
                 {"a", file(o.a, a)},
                 {"b", file(o.b, b)},
                 {"settings", settings_array(d.settings)},
                 {"programs", settings_array(d.programs)},
                 {"runs",
                  {{"common", d.common},
                   {"other_configuration", d.other_key},
                   {"other_status", d.other_status},
                   {"only_a", d.count_a},
                   {"only_b", d.count_b},
                   {"only_a_ids", d.only_a},
                   {"only_b_ids", d.only_b}}},
                 {"values", values}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace

int diff(const DiffOptions& o) {
  const ReadLimits limits = read_limits(o.max_seconds, o.max_memory);
  const ResultFile a = read_results(o.a, diff_columns, limits), b = read_results(o.b, diff_columns, limits);
  const FileDiff d = diff_files(a, b);
  put(o.json ? diff_json(o, a, b, d) : diff_text(o, a, b, d));
  return static_cast<int>(d.same_digest ? Exit::ok : Exit::different);
}

// Runs `odrpo-bench verify FILE.h5 …`: checks that each file is complete, that its data match their checksums, and its numbers its digest.

namespace {

/// The result for one file. `code` is `ok`, `io` (missing), `limits` (too costly to read), or `bad_input` (damaged, or its digest is wrong).
struct Verdict {
  Exit code = Exit::ok;
  std::string path, what, suite, digest, computed;
  std::size_t runs = 0, failed = 0;
};

Verdict judge(const std::string& path, const ReadLimits& limits) {
  Verdict v;
  v.path = path;
  try {
    const Verification found = verify_results(path, limits);
    v.suite = found.head.suite;
    v.digest = found.head.digest;
    v.computed = found.computed;
    v.runs = found.head.runs;
    v.failed = found.head.failed;
    if (v.computed != v.digest) {
      v.code = Exit::bad_input;
      v.what = fmt::format("'{}': its numbers have digest {}, but it claims {}", printable_line(path), v.computed,
                           v.digest.empty() ? "none" : v.digest);
    }
  } catch (const Failure& failure) {
    v.code = failure.code;
    v.what = failure.what();
  }
  return v;
}

Json as_json(const Verdict& v) {
  Json out{{"file", v.path}, {"ok", v.code == Exit::ok}};
  if (!v.what.empty()) out["error"] = v.what;
  if (v.runs > 0) {
    out["suite"] = v.suite;
    out["runs"] = v.runs;
    out["failed"] = v.failed;
    out["digest"] = v.digest;
    out["computed"] = v.computed;
  }
  return out;
}

}  // namespace

int verify(const VerifyOptions& o) {
  Exit worst = Exit::ok;
  Json all = Json::array();
  for (const std::string& path : o.paths) {
    const Verdict v = judge(path, read_limits(o.max_seconds, o.max_memory));
    worst = std::max(worst, v.code);  // exit code 8 (rejected file) outranks 5 (missing file), which outranks 4 (too large)
    if (o.json) {
      all.push_back(as_json(v));
    } else if (v.code == Exit::ok) {
      put(fmt::format("{}: {}, digest {}, {}{}\n", printable_line(v.path), painted("OK", Paint::good), v.digest, runs_text(v.runs),
                      v.failed ? fmt::format(", {} of them failed", v.failed) : ""));
    } else {
      std::fflush(stdout);
      print_error(v.what);
    }
  }
  if (o.json) put(all.dump(2, ' ', false, Json::error_handler_t::replace) + '\n');
  return static_cast<int>(worst);
}

}  // namespace odrpo::app
