// Renders the model of a table as LaTeX with booktabs' rules.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "kernels/shared/utf8.hpp"
#include "results/table/render/cell_texts.hpp"

namespace odrpo {
namespace {

/// Escapes any text for pdflatex with font encoding T1. Escapes TeX's special characters; keeps Latin letters as UTF-8. Writes the code of
/// a character that the fonts lack, e.g. U+4E2D.
std::string latex_text(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (text.substr(i).starts_with("±")) {
      out += "$\\pm$";
      i += std::string_view("±").size() - 1;
    } else if (std::string_view("&%$#_{}").find(c) != std::string_view::npos) {
      out += '\\';
      out += c;
    } else if (c == '\\') {
      out += "\\textbackslash{}";
    } else if (c == '~') {
      out += "\\textasciitilde{}";
    } else if (c == '^') {
      out += "\\textasciicircum{}";
    } else if (c == '<') {
      out += "\\textless{}";
    } else if (c == '>') {
      out += "\\textgreater{}";
    } else if (c == '|') {
      out += "\\textbar{}";
    } else if (c == '"') {
      out += "\\textquotedbl{}";
    } else if (c == '\'') {
      out += "\\textquotesingle{}";
    } else if (c == '`') {
      out += "\\textasciigrave{}";
    } else if (c == '-') {
      out += "{-}";  // two hyphens would become a dash
    } else if (c == '[' || c == ']' || c == '*' || c == ',') {
      out += fmt::format("{{{}}}", c);  // a bracket or star after \\ would be its argument; two commas would become a quote
    } else if (static_cast<unsigned char>(c) < 0x80) {
      out += c;
    } else {
      const Character letter = first_character(text.substr(i));  // the model's texts are UTF-8
      constexpr char32_t not_in_t1[] = {0x126, 0x127, 0x138, 0x13F, 0x140, 0x149, 0x166, 0x167, 0x17F};
      const bool shown = letter.point >= 0xC0 && letter.point < 0x180 &&
                         std::find(std::begin(not_in_t1), std::end(not_in_t1), letter.point) == std::end(not_in_t1);
      if (shown) out += text.substr(i, letter.bytes);
      else out += fmt::format("U+{:04X}", static_cast<unsigned>(letter.point));
      i += std::max<std::size_t>(letter.bytes, 1) - 1;
    }
  }
  return out;
}

/// Length of the number with which the text begins (sign, digits, point, exponent); 0 if it begins with none.
std::size_t number_length(std::string_view text) {
  std::size_t i = 0;
  if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
  const std::size_t digits = i;
  while (i < text.size() && ((text[i] >= '0' && text[i] <= '9') || text[i] == '.')) ++i;
  if (i == digits) return 0;
  if (i + 1 < text.size() && text[i] == 'e') {
    std::size_t power = i + 1;
    if (text[power] == '+' || text[power] == '-') ++power;
    const std::size_t first = power;
    while (power < text.size() && text[power] >= '0' && text[power] <= '9') ++power;
    if (power > first) i = power;
  }
  return i;
}

/// Returns a cell's text as LaTeX. Every number becomes $…$ or \num{…}; the first is bold if `bold`.
std::string cell_latex(std::string_view text, bool bold, bool siunitx) {
  std::string out;
  bool first = true, in_word = false;  // a number inside a name stays text
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = in_word ? 0 : number_length(text.substr(i));
    if (length == 0) {
      const bool wide = text.substr(i).starts_with("±");
      const std::size_t bytes = wide ? std::string_view("±").size() : 1;
      out += latex_text(text.substr(i, bytes));
      in_word = !wide && (text[i] != ' ' && text[i] != '[' && text[i] != '@' && text[i] != '/' && text[i] != '=');
      i += bytes;
      continue;
    }
    const std::string_view number = text.substr(i, length);
    const std::string shown = siunitx ? fmt::format("\\num{{{}}}", number) : fmt::format("${}$", number);
    out += !bold || !first  ? shown
           : siunitx        ? fmt::format("{{\\bfseries\\num{{{}}}}}", number)
                            : fmt::format("$\\mathbf{{{}}}$", number);
    first = false;
    in_word = true;
    i += length;
  }
  return out;
}

/// LaTeX that opens a box and scales it down to the width of the line if it is wider.
constexpr const char* fit = "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n";

/// A comment line. `text` must not contain a line end.
std::string comment(const std::string& text) { return "% " + text + "\n"; }

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

/// A name for \label: letters, digits and hyphens.
std::string label_text(std::string_view name) {
  std::string out;
  for (const char c : name) out += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '-';
  return out;
}

}  // namespace

std::string table_latex(const TableModel& table, Legend legend, bool siunitx) {
  std::string out = comment(table_title(table));
  for (const std::string& sentence : table_sentences(table, Legend::full)) out += comment(sentence);
  for (const auto& [name, rater] : table.raters) out += comment(fmt::format("rater {}: {}", name, rater));
  for (const auto& [name, formula] : table.formulas) out += comment(fmt::format("formula of {}: {}", name, formula));
  out += siunitx ? "% \\usepackage[T1]{fontenc}\n% \\usepackage{booktabs,graphicx,siunitx,textcomp}\n"
                   "% \\sisetup{retain-explicit-plus = true, reset-text-series = false, text-series-to-math = true}\n"
                 : "% \\usepackage[T1]{fontenc}\n% \\usepackage{booktabs,graphicx,textcomp}\n";
  const std::string best = best_sentence(table), bold = best.empty() ? "" : " " + best + ".";
  if (!best.empty()) out += comment(best + ".");
  const NumberStyle style = number_style(table);
  for (std::size_t b = 0; b < table.blocks.size(); ++b) {
    const TableBlock& block = table.blocks[b];
    const Grid grid = grid_of(table, block, style);
    out += "\\begin{table}\n\\centering\n";
    std::string caption = latex_text(table.suite);
    if (table.values.size() == 1) caption += ": " + latex_text(value_text(table.values[0]));
    if (table.blocks.size() > 1) caption += "; " + latex_text(block_text(table, block, false));
    if (legend != Legend::none) {
      caption += ".";
      for (const std::string& sentence : table_sentences(table, legend)) caption += " " + latex_text(capitalised(sentence)) + ".";
      caption += bold;
    }
    out += fmt::format("\\caption{{{}}}\n\\label{{tab:{}{}}}\n", caption, label_text(table.suite),
                       table.blocks.size() > 1 ? fmt::format("-{}", b + 1) : "");
    std::string columns = "l", head = latex_text(table.spec.rows);
    for (const auto& column : grid.heading)
      for (const std::string& text : column) {
        columns += "r";
        head += " & " + latex_text(text);
      }
    out += fmt::format("{}\\begin{{tabular}}{{{}}}\n\\toprule\n{} \\\\\n\\midrule\n", fit, columns, head);
    for (std::size_t r = 0; r < grid.body.size(); ++r) {
      if (r > 0 && begins_group(table, r)) out += "\\midrule\n";
      out += latex_text(row_text(table, r));
      for (std::size_t c = 0; c < grid.body[r].size(); ++c)
        for (std::size_t part = 0; part < grid.body[r][c].size(); ++part)
          out += " & " + cell_latex(grid.body[r][c][part], part == 0 && block.cells[r * table.columns.size() + c].among_best, siunitx);
      out += " \\\\\n";
    }
    out += "\\bottomrule\n\\end{tabular}}\n\\end{table}\n";
    if (b + 1 < table.blocks.size()) out += "\n";
  }
  return out;
}

}  // namespace odrpo
