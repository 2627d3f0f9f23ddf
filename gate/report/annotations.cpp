// Findings as GitHub's workflow commands, which show up beside a pull request.
#include <fmt/format.h>

#include <algorithm>

#include "gate/report/finding.hpp"
#include "gate/report/report_words.hpp"

namespace odrpo {
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

}  // namespace odrpo
