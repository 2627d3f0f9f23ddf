// A gate's report as JUnit's XML, which CI systems show as tests.
#include <fmt/format.h>

#include <algorithm>

#include "app/gate/report.hpp"
#include "app/gate/report_words.hpp"
#include "results/markup.hpp"

namespace odrpo::app {
namespace {

std::string attribute(std::string_view text) { return markup_text(short_text(text, 500)); }

}  // namespace

std::string gate_junit(const GateReport& r) {
  std::size_t failures = 0;
  for (std::size_t i = 0; i < r.decisions.size(); ++i) failures += fails(r, i);
  const std::string totals = fmt::format(R"(tests="{}" failures="{}" errors="0" skipped="{}" time="{:.3f}")",
                                         r.decisions.size() + r.left_out.size(), failures, r.left_out.size(), r.seconds);
  std::string out =
      fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n  <testsuite name=\"odrpo-bench gate\" {0}>\n", totals);
  out +=
      fmt::format("    <properties>\n      <property name=\"baseline\" value=\"{}\"/>\n      <property name=\"candidate\" value=\"{}\"/>\n",
                  attribute(r.baseline), attribute(r.candidate));
  out += fmt::format("      <property name=\"host\" value=\"{}\"/>\n    </properties>\n", attribute(r.host));
  for (const std::size_t i : worst_first(r)) {
    const GateMeasurement& m = r.measured[i];
    out += fmt::format("    <testcase classname=\"gate.{}\" name=\"{}\" time=\"{:.9f}\">", attribute(r.kind),
                       attribute(r.decisions[i].name), 1e-9 * m.baseline_ns);
    const std::string sentence = markup_text(case_sentence(r, i));
    if (fails(r, i)) out += fmt::format("\n      <failure type=\"{}\" message=\"{}\"/>\n    ", failure_word(r, i), sentence);
    else out += fmt::format("\n      <system-out>{}</system-out>\n    ", sentence);
    out += "</testcase>\n";
  }
  for (const GateLeftOut& left : r.left_out)
    out += fmt::format("    <testcase classname=\"gate.{}\" name=\"{}\" time=\"0\"><skipped message=\"{}\"/></testcase>\n",
                       attribute(r.kind), attribute(left.name), attribute(left.why));
  return out + "  </testsuite>\n</testsuites>\n";
}

}  // namespace odrpo::app
