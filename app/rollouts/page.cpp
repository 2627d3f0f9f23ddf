// Implements page.hpp.
#include "app/rollouts/page.hpp"

#include "kernels/system/terminal.hpp"

namespace odrpo::app {
namespace {

std::string as_cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '\\' || c == '<' || c == '*' || c == '_' || c == '`' || c == '[') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string page_text(const ReportPage& page) {
  std::string out;
  for (const std::string& text : page.heading) out += paragraph(text, 0, 2);
  for (const PageTable& table : page.tables) {
    out += '\n';
    std::vector<TextColumn> columns;
    for (std::size_t c = 0; !table.rows.empty() && c < table.rows[0].size(); ++c) {
      columns.push_back({table.rows[0][c], {}, c > 0});
      for (std::size_t r = 1; r < table.rows.size(); ++r) columns.back().rows.push_back(table.rows[r][c]);
    }
    if (!columns.empty()) out += side_by_side(columns, page_width());
    for (const std::string& text : table.legend) out += paragraph(text, 0, 2);
  }
  return out;
}

std::string page_markdown(const ReportPage& page) {
  std::string out;
  for (const std::string& text : page.heading) out += as_cell(text) + "\n\n";
  for (const PageTable& table : page.tables) {
    out += "### " + as_cell(table.title) + "\n\n";
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      out += '|';
      for (const std::string& cell : table.rows[r]) out += ' ' + as_cell(cell) + " |";
      out += '\n';
      if (r > 0) continue;
      out += '|';
      for (std::size_t c = 0; c < table.rows[0].size(); ++c) out += c == 0 ? "---|" : "---:|";
      out += '\n';
    }
    if (!table.rows.empty()) out += '\n';
    for (const std::string& text : table.legend) out += as_cell(text) + "\n\n";
  }
  return out;
}

}  // namespace odrpo::app
