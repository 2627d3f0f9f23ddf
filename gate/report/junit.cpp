// Findings as JUnit's XML, which CI systems show as tests.
#include <fmt/format.h>

#include <algorithm>

#include "gate/report/finding.hpp"
#include "gate/report/report_words.hpp"
#include "results/page/html_text.hpp"

namespace odrpo {
namespace {

std::string attribute(std::string_view text) { return markup_text(short_text(text, 500)); }

}  // namespace

std::string findings_junit(const Findings& f) {
  const auto failures = std::count_if(f.found.begin(), f.found.end(), [](const Finding& x) { return !x.failure.empty(); });
  const std::string totals = fmt::format(R"(tests="{}" failures="{}" errors="0" skipped="{}" time="{:.3f}")",
                                         f.found.size() + f.left_out.size(), failures, f.left_out.size(), f.seconds);
  std::string out =
      fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n  <testsuite name=\"odrpo-bench gate\" {0}>\n", totals);
  out += "    <properties>\n";
  for (const auto& [what, text] : f.about)
    out += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", attribute(what), attribute(text));
  out += "    </properties>\n";
  for (const Finding& found : f.found) {
    out += fmt::format("    <testcase classname=\"gate.{}\" name=\"{}\" time=\"{:.9f}\">", attribute(f.kind), attribute(found.name),
                       found.seconds);
    const std::string sentence = markup_text(found.sentence);
    if (found.failure.empty()) out += fmt::format("\n      <system-out>{}</system-out>\n    ", sentence);
    else out += fmt::format("\n      <failure type=\"{}\" message=\"{}\"/>\n    ", found.failure, sentence);
    out += "</testcase>\n";
  }
  for (const GateLeftOut& left : f.left_out)
    out += fmt::format("    <testcase classname=\"gate.{}\" name=\"{}\" time=\"0\"><skipped message=\"{}\"/></testcase>\n",
                       attribute(f.kind), attribute(left.name), attribute(left.why));
  return out + "  </testsuite>\n</testsuites>\n";
}

}  // namespace odrpo
