// Writes a gate's reports, and its findings as CI systems read them: JUnit's XML, GitHub's workflow commands, the summary of a job.
#include "gate/report/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "gate/report/report.hpp"
#include "kernels/system/output_file.hpp"
#include "results/page/html_text.hpp"

namespace odrpo {
namespace {

bool is_job_summary(const std::string& markdown) {
  const char* summary = getenv("GITHUB_STEP_SUMMARY");
  return summary != nullptr && markdown == summary;
}

/// What other commands of the step have written.
std::string text_before(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string before{std::istreambuf_iterator<char>(file), {}};
  if (!before.empty() && before.back() != '\n') before += '\n';
  return before;
}

}  // namespace

std::string figure_path(const std::string& markdown) {
  return is_job_summary(markdown) ? "" : std::filesystem::path(markdown).replace_extension(".svg").string();
}

void check_gate_outputs(const GateOptions& o, bool figure) {
  for (const auto& path : {o.junit, o.markdown})
    if (!path.empty()) check_output(path, "");
  if (figure && !o.markdown.empty() && !figure_path(o.markdown).empty()) check_output(figure_path(o.markdown), o.markdown);
}

void write_gate_outputs(const GateOptions& o, const Findings& findings, const GateSummary& summary) {
  if (!o.junit.empty()) write_output(o.junit, findings_junit(findings));
  if (!o.markdown.empty()) {
    const std::string figure = summary.svg.empty() ? "" : figure_path(o.markdown);
    if (!figure.empty()) write_output(figure, summary.svg);
    const std::string before = is_job_summary(o.markdown) ? text_before(o.markdown) : "";
    write_output(o.markdown, before + summary.markdown(std::filesystem::path(figure).filename().string()));
  }
  const char* github = getenv("GITHUB_ACTIONS");
  if (github != nullptr && std::string_view(github) == "true") std::fputs(findings_annotations(findings).c_str(), stderr);
}

// Findings as CI systems read them: JUnit's XML, GitHub's workflow commands, the Markdown summary of a job.

namespace {

std::string attribute(std::string_view text) { return markup_text(short_text(text, 500)); }

}  // namespace

std::string findings_junit(const Findings& f) {
  const auto failures = std::count_if(f.found.begin(), f.found.end(), [](const Finding& x) { return !x.failure.empty(); });
  const auto skipped =
      std::ssize(f.left_out) + std::count_if(f.found.begin(), f.found.end(), [](const Finding& x) { return x.skipped; });
  const std::string totals = fmt::format(R"(tests="{}" failures="{}" errors="0" skipped="{}" time="{:.3f}")",
                                         f.found.size() + f.left_out.size(), failures, skipped,
                                         f.seconds);
  std::string out =
      fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n  <testsuite name=\"odrpo-bench {1}\" {0}>\n", totals, f.command);
  out += "    <properties>\n";
  for (const auto& [what, text] : f.about)
    out += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", attribute(what), attribute(text));
  out += "    </properties>\n";
  for (const Finding& found : f.found) {
    out += fmt::format("    <testcase classname=\"{}.{}\" name=\"{}\" time=\"{:.9f}\">", f.command, attribute(f.kind), attribute(found.name),
                       found.seconds);
    const std::string sentence = markup_text(found.sentence);
    if (found.skipped) out += fmt::format("\n      <skipped message=\"{}\"/>\n    ", sentence);
    else if (found.failure.empty()) out += fmt::format("\n      <system-out>{}</system-out>\n    ", sentence);
    else out += fmt::format("\n      <failure type=\"{}\" message=\"{}\"/>\n    ", found.failure, sentence);
    out += "</testcase>\n";
  }
  for (const GateLeftOut& left : f.left_out)
    out += fmt::format("    <testcase classname=\"{}.{}\" name=\"{}\" time=\"0\"><skipped message=\"{}\"/></testcase>\n", f.command,
                       attribute(f.kind), attribute(left.name), attribute(left.why));
  return out + "  </testsuite>\n</testsuites>\n";
}

// Findings as GitHub's workflow commands, which show up beside a pull request.

namespace {

constexpr std::size_t most_lines = 10;  // GitHub shows ten of a step

/// As GitHub unescapes it; in a property also : and ,
std::string escaped(std::string_view text, bool property) {
  std::string out;
  for (const char c : text) {
    if (c == '%') out += "%25";
    else if (c == '\r') out += "%0D";
    else if (c == '\n') out += "%0A";
    else if (property && c == ':') out += "%3A";
    else if (property && c == ',') out += "%2C";
    else out += c;
  }
  return out;
}

std::string line(const char* level, std::string_view title, std::string_view message) {
  return fmt::format("::{} title={}::{}\n", level, escaped(title, true), escaped(message, false));
}

}  // namespace

std::string findings_annotations(const Findings& f) {
  std::vector<std::string> lines;
  const auto add = [&](const Finding& found, const char* level) {
    lines.push_back(line(level, "gate: " + short_text(found.name, 100), found.sentence));
  };
  for (const Finding& found : f.found)
    if (!found.failure.empty()) add(found, "error");
  for (const Finding& found : f.found)
    if (found.notable && found.failure.empty()) add(found, "warning");
  std::string out;
  const std::size_t shown = lines.size() > most_lines ? most_lines - 1 : lines.size();
  for (std::size_t i = 0; i < shown; ++i) out += lines[i];
  if (shown < lines.size()) out += line("warning", "gate", fmt::format("{} more cases; {}", lines.size() - shown, f.outcome));
  return out;
}

// Findings as Markdown: the summary of a CI job.

namespace {

constexpr std::size_t most_found = 50, most_left_out_in_summary = 10;

}  // namespace

std::string markdown_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view(R"(\`*_{}[]()#+-!|~$@:&<>"')").find(c) != std::string_view::npos) out += fmt::format("&#{};", static_cast<int>(c));
    else out += c;
  }
  return out;
}

std::string findings_markdown(const Findings& f) {
  const auto line = [](const std::string& text, std::size_t width) { return markdown_text(short_text(text, width)); };
  std::string out = fmt::format("### gate: {}\n\n{}\n\n", markdown_text(f.outcome), markdown_text(f.rules));
  for (const auto& [what, text] : f.about) out += fmt::format("{}: {}<br>\n", markdown_text(what), line(text, 300));
  const std::size_t rows = std::min(f.found.size(), most_found);
  if (rows > 0) out += "\n| case | verdict | |\n|---|---|---|\n";
  for (std::size_t i = 0; i < rows; ++i) {
    const Finding& found = f.found[i];
    out += fmt::format("| {} | {} | {} |\n", line(found.name, 120),
                       found.failure.empty() ? markdown_text(found.verdict) : "**" + markdown_text(found.failure) + "**",
                       markdown_text(found.sentence));
  }
  if (rows < f.found.size())
    out += fmt::format("\n{} more, none worse than these, are in the JSON and JUnit reports.\n", f.found.size() - rows);
  out += '\n';
  for (std::size_t i = 0; i < std::min(f.left_out.size(), most_left_out_in_summary); ++i)
    out += fmt::format("- not compared: {}: {}\n", line(f.left_out[i].name, 120), line(f.left_out[i].why, 200));
  if (f.left_out.size() > most_left_out_in_summary) out += fmt::format("- not compared: {} more\n", f.left_out.size() - most_left_out_in_summary);
  for (const std::string& note : f.notes) out += fmt::format("\n{}\n", markdown_text(note));
  return out;
}

}  // namespace odrpo
