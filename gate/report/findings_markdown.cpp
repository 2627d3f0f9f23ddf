// Findings as Markdown: the summary of a CI job.
#include <fmt/format.h>

#include <algorithm>

#include "gate/report/finding.hpp"
#include "gate/report/report_words.hpp"

namespace odrpo {
namespace {

constexpr std::size_t most_found = 50, most_left_out = 10;

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
  for (std::size_t i = 0; i < std::min(f.left_out.size(), most_left_out); ++i)
    out += fmt::format("- not compared: {}: {}\n", line(f.left_out[i].name, 120), line(f.left_out[i].why, 200));
  if (f.left_out.size() > most_left_out) out += fmt::format("- not compared: {} more\n", f.left_out.size() - most_left_out);
  for (const std::string& note : f.notes) out += fmt::format("\n{}\n", markdown_text(note));
  return out;
}

}  // namespace odrpo
