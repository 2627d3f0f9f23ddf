// A gate's report as GitHub's workflow commands, which show up beside a pull request.
#include <fmt/format.h>

#include <algorithm>

#include "app/gate/report.hpp"
#include "app/gate/report_words.hpp"

namespace odrpo::app {
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

std::string gate_annotations(const GateReport& r) {
  std::vector<std::string> lines;
  const auto add = [&](std::size_t i) {
    lines.push_back(line(fails(r, i) ? "error" : "warning", "gate: " + short_text(r.decisions[i].name, 100), case_sentence(r, i)));
  };
  const std::vector<std::size_t> order = worst_first(r);
  for (const std::size_t i : order)
    if (fails(r, i)) add(i);
  for (const std::size_t i : order)
    if (notable(r, i) && !fails(r, i)) add(i);
  std::string out;
  const std::size_t shown = lines.size() > most_lines ? most_lines - 1 : lines.size();
  for (std::size_t i = 0; i < shown; ++i) out += lines[i];
  if (shown < lines.size()) out += line("warning", "gate", fmt::format("{} more cases; {}", lines.size() - shown, outcome_text(r)));
  return out;
}

}  // namespace odrpo::app
