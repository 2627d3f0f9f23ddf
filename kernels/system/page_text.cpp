// Breaking lines and setting columns.
#include "kernels/system/page_text.hpp"

#include <algorithm>

#include "kernels/system/text.hpp"

namespace odrpo {
namespace {

constexpr std::size_t widest = 28;  // a longer cell does not widen its column
constexpr std::size_t least = 30;   // columns that the last cell has at least

void end_line(std::string& out, std::string& line) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + '\n';
}

}  // namespace

std::vector<std::string> broken(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(" \n"), text.size());
    const auto word = text.substr(0, end);
    if (!lines.back().empty() && code_points(lines.back()) + 1 + code_points(word) > width) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
    if (end < text.size() && text[end] == '\n') lines.emplace_back();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string rows_text(const std::vector<std::vector<std::string>>& rows, std::size_t indent) {
  if (rows.empty()) return "";
  const std::size_t last = rows[0].size() - 1;
  std::vector<std::size_t> width(last, 0);
  for (const auto& row : rows)
    for (std::size_t i = 0; i < last; ++i)
      if (code_points(row[i]) <= widest) width[i] = std::max(width[i], code_points(row[i]));
  std::size_t at = indent;
  for (const auto w : width) at += w + 2;
  std::string out;
  for (const auto& row : rows) {
    std::string line(indent, ' ');
    std::size_t column = indent;
    for (std::size_t i = 0; i < last; ++i) {
      column += width[i] + 2;
      line += row[i] + "  ";
      if (code_points(line) < column) line.append(column - code_points(line), ' ');
    }
    // a cell that is too wide pushes the others; the last one then begins on a line of its own
    if (code_points(line) > at) {
      for (const auto& part : broken(std::string_view(line).substr(indent), page - indent)) {
        std::string whole = std::string(indent, ' ') + part;
        end_line(out, whole);
      }
      line.assign(at, ' ');
    }
    for (const auto& text : broken(row[last], page > at + least ? page - at : least)) {
      line += text;
      end_line(out, line);
      line.assign(at, ' ');
    }
  }
  return out;
}

std::string paragraph(std::string_view text, std::size_t indent, std::size_t hanging) {
  std::string out;
  for (const auto& part : broken(text, page - indent - hanging)) {
    out.append(indent + (out.empty() ? 0 : hanging), ' ').append(part).append("\n");
  }
  return out;
}

}  // namespace odrpo
