// Renders the model of a table as Markdown (CommonMark with GitHub's tables). Escapes names so that they print unchanged.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "results/table/render/cell_texts.hpp"

namespace odrpo {
namespace {

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

/// Escapes text inside a line or table cell, only where it would have a meaning in Markdown. Brackets make a link before ( or [; & begins
/// an entity before a word. GitHub also makes links of text with :// or www., and of mail addresses (those it links even if escaped).
std::string inline_text(std::string_view text) {
  const bool links = text.find("](") != std::string_view::npos || text.find("][") != std::string_view::npos;
  const auto at = [&](std::size_t i) { return i < text.size() ? text[i] : ' '; };
  const auto web = [&](std::size_t dot) {
    return dot >= 3 && std::all_of(text.begin() + dot - 3, text.begin() + dot, [](char c) { return c == 'w' || c == 'W'; });
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (std::string_view("\\|*_<`~").find(c) != std::string_view::npos || (links && (c == '[' || c == ']')) ||
        (c == '&' && (is_word(at(i + 1)) || at(i + 1) == '#')) || (c == ':' && at(i + 1) == '/' && at(i + 2) == '/') ||
        (c == '.' && web(i)) || (c == '@' && i > 0 && text[i - 1] != ' ' && at(i + 1) != ' '))
      out += '\\';
    out += c;
  }
  return out;
}

/// Escapes text that begins a paragraph or list item, so that it begins no list, quotation, heading or link definition.
std::string line_text(std::string_view text) {
  std::string out = inline_text(text);
  const std::size_t first = std::min(out.find_first_not_of(' '), out.size());
  const std::size_t number = std::min(out.find_first_not_of("0123456789", first), out.size());
  if (first < out.size() && std::string_view("#>+-[").find(out[first]) != std::string_view::npos) out.insert(first, 1, '\\');
  else if (number > first && number < out.size() && (out[number] == '.' || out[number] == ')')) out.insert(number, 1, '\\');
  return out;
}

/// A code span, with more backticks around it than any run of backticks in the text.
std::string code_text(const std::string& text) {
  std::string fence = "`";
  while (text.find(fence) != std::string::npos) fence += '`';
  const bool spaced = text.starts_with('`') || text.ends_with('`') || (text.starts_with(' ') && text.ends_with(' '));
  const char* space = spaced ? " " : "";
  return fence + space + text + space + fence;
}

}  // namespace

std::string table_markdown(const TableModel& table, Legend legend) {
  std::string out = fmt::format("**{}**\n", inline_text(table_title(table)));
  const NumberStyle style = number_style(table);
  for (const TableBlock& block : table.blocks) {
    out += "\n";
    if (table.blocks.size() > 1) out += fmt::format("{}\n\n", line_text(block_text(table, block, false)));
    out += fmt::format("| {} |", inline_text(table.spec.rows));
    const Grid grid = grid_of(table, block, style);
    std::string rule = "|---|";
    for (const auto& column : grid.heading)
      for (const std::string& text : column) {
        out += fmt::format(" {} |", inline_text(text));
        rule += "---|";
      }
    out += fmt::format("\n{}\n", rule);
    for (std::size_t r = 0; r < grid.body.size(); ++r) {
      out += fmt::format("| {} |", inline_text(row_text(table, r)));
      for (const auto& column : grid.body[r])
        for (const std::string& text : column) out += fmt::format(" {} |", inline_text(text));
      out += "\n";
    }
  }
  const std::vector<std::string> sentences = table_sentences(table, legend);
  if (!sentences.empty()) out += "\n";
  for (const std::string& sentence : sentences) out += fmt::format("- {}\n", line_text(sentence));
  if (legend != Legend::full) return out;
  for (const auto& [name, rater] : table.raters) out += fmt::format("- rater {}: {}\n", code_text(name), inline_text(rater));
  for (const auto& [name, formula] : table.formulas) out += fmt::format("- formula of {}: {}\n", code_text(name), inline_text(formula));
  return out;
}

}  // namespace odrpo
