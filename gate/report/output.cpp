// Where a gate's reports go.
#include "gate/report/output.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "kernels/system/output_file.hpp"

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

}  // namespace odrpo
