// `odrpo-bench verify FILE.h5 …`: is each file whole, has everything in it its checksum, and do its numbers have its digest?
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/command.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"
#include "results/store/store.hpp"

namespace odrpo::app {
namespace {

/// What is known about one file. `code` is ok, io (missing), limits or bad_input (rejected, or another digest).
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

nlohmann::ordered_json as_json(const Verdict& v) {
  nlohmann::ordered_json out{{"file", v.path}, {"ok", v.code == Exit::ok}};
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
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const std::string& path : o.paths) {
    const Verdict v = judge(path, read_limits(o.max_seconds, o.max_memory));
    worst = std::max(worst, v.code);  // a rejected file (8) outranks a missing one (5), and that one a file too large (4)
    if (o.json) {
      all.push_back(as_json(v));
    } else if (v.code == Exit::ok) {
      put(fmt::format("{}: OK, digest {}, {}{}\n", printable_line(v.path), v.digest, runs_text(v.runs),
                      v.failed ? fmt::format(", {} of them failed", v.failed) : ""));
    } else {
      std::fflush(stdout);
      print_error(v.what);
    }
  }
  if (o.json) put(all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n');
  return static_cast<int>(worst);
}

}  // namespace odrpo::app
