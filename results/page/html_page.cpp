// The page as a whole: its head with the policy, and its sections.
#include "results/page/html_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/shared/failure.hpp"
#include "results/page/html_text.hpp"
#include "results/table/render/cell_texts.hpp"

namespace odrpo {
namespace {

using page::cut_text;

constexpr std::string_view mark = "<meta name=\"generator\" content=\"odrpo-bench";

/// A fact or the reason of a failure: longer ones are cut.
constexpr std::size_t longest_text = 2000;

std::string head(const HtmlPage& p, const std::string& title) {
  const std::string policy =
      fmt::format("default-src 'none'; style-src '{}'; script-src '{}'; img-src data:; base-uri 'none'; form-action 'none'",
                  page::policy_hash(page::style_text), page::policy_hash(page::script_text));
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{}{}\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n<title>{}</title>\n<link rel=\"icon\" href=\"data:,\">\n"
      "<style>{}</style>\n</head>\n",
      mark, markup_text(p.program.substr(std::min<std::size_t>(p.program.find(' '), p.program.size()))), policy, markup_text(title),
      page::style_text);
}

/// A section with its title, when it has content.
struct Section {
  std::string id, title, content;
};

std::string definitions(const std::vector<std::pair<std::string, std::string>>& facts) {
  if (facts.empty()) return "";
  std::string out = "<dl>\n";
  for (const auto& [name, text] : facts)
    out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", markup_text(name), markup_text(cut_text(text, longest_text)));
  return out + "</dl>\n";
}

Section reproduction(const HtmlPage& p) {
  std::string out;
  if (!p.commands.empty()) out += fmt::format("<pre><code>{}</code></pre>\n", markup_text(p.commands, "\n"));
  for (const std::string& remark : p.remarks) out += fmt::format("<p class=\"note\">{}</p>\n", markup_text(remark));
  return {"reproduce", "Reproduce", out + definitions(p.facts)};
}

Section results(const HtmlPage& p) {
  std::string out;
  if (p.tables.empty()) out = "<p>No run has brought a number.</p>\n";
  for (const TableModel& table : p.tables) {
    if (p.tables.size() > 1 && table.values.size() == 1) out += fmt::format("<h3>{}</h3>\n", markup_text(value_text(table.values[0])));
    page::append_tables(out, table, page_table_bytes);
  }
  return {"results", "Results", out};
}

Section figures(const HtmlPage& p) {
  std::string out;
  std::size_t left_out = 0;
  for (const PageFigure& figure : p.figures) {
    if (const std::string problem = svg_problem(figure.svg); !problem.empty())
      throw Failure(Exit::internal, "the figure \"" + figure.title + "\" has " + problem);
    if (out.size() + figure.svg.size() > page_figure_bytes) ++left_out;
    else
      out += fmt::format(
          "<figure>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\">\n{1}\n</div>\n"
          "<figcaption><strong>{0}.</strong> {2}</figcaption>\n</figure>\n",
          markup_text(figure.title), figure.svg, markup_text(cut_text(figure.caption, longest_text)));
  }
  if (left_out > 0)
    out += fmt::format("<p class=\"cut\">{} of {} figures are not shown: a page has at most {} kB of them.</p>\n", left_out,
                       p.figures.size(), page_figure_bytes / 1000);
  for (const std::string& note : p.figure_notes) out += fmt::format("<p class=\"note\">{}</p>\n", markup_text(cut_text(note, longest_text)));
  return {"figures", "Figures", out};
}

/// Raters, formulas and settings behind all tables, each once.
Section method(const HtmlPage& p) {
  std::string out;
  const auto list = [&](const char* title, std::vector<std::pair<std::string, std::string>> TableModel::*lines) {
    std::vector<std::string> items;
    for (const TableModel& table : p.tables)
      for (const auto& [name, line] : table.*lines) {
        std::string item = fmt::format("<code>{}</code>: {}", markup_text(name), markup_text(cut_text(line, longest_text)));
        if (std::find(items.begin(), items.end(), item) == items.end()) items.push_back(std::move(item));
      }
    if (!items.empty()) out += fmt::format("<h3>{}</h3>\n", title);
    page::append_list(out, items, page_list_bytes);
  };
  list("Raters", &TableModel::raters);
  list("Formulas", &TableModel::formulas);
  list("Settings that are not the usual ones", &TableModel::settings);
  return {"method", "Raters and formulas", out};
}

/// A text verbatim, cut between lines where it is too long.
Section documents(const HtmlPage& p) {
  std::string out;
  for (const auto& [title, text] : p.documents) {
    std::string shown = markup_text(text, "\t\n");
    std::string cut;
    if (shown.size() > page_document_bytes) {
      shown.resize(shown.rfind('\n', page_document_bytes) + 1);
      cut = fmt::format("<p class=\"cut\">The rest is not shown: a text of this page has at most {} kB.</p>\n", page_document_bytes / 1000);
    }
    out += fmt::format("<details>\n<summary>{}</summary>\n<pre><code>{}</code></pre>\n{}</details>\n", markup_text(title), shown, cut);
  }
  return {"suite", "Suite", out};
}

Section failures(const HtmlPage& p) {
  if (p.failed == 0) return {"failed", "Failed runs", ""};
  std::vector<std::string> items;
  for (const auto& [id, reason] : p.failures)
    items.push_back(fmt::format("<code>{}</code>: {}", markup_text(cut_text(id, longest_text)), markup_text(cut_text(reason, longest_text))));
  std::string out = fmt::format("<p>{} of {} runs failed, and are left out of the numbers{}.</p>\n", p.failed, p.runs,
                                p.failed > items.size() ? fmt::format("; the first {}", items.size()) : "");
  page::append_list(out, items, page_list_bytes);
  return {"failed", "Failed runs", out};
}

}  // namespace

std::string html_page(const HtmlPage& p) {
  const std::string title = cut_text(p.suite, 200);
  std::string out = head(p, title);
  std::vector<Section> sections{reproduction(p), results(p), figures(p), method(p), documents(p), failures(p)};
  std::erase_if(sections, [](const Section& s) { return s.content.empty(); });
  out += fmt::format("<body>\n<header>\n<h1>{}</h1>\n<p class=\"lead\">{} of {}</p>\n", markup_text(title),
                     p.runs == 1 ? "1 run" : fmt::format("{} runs", p.runs), markup_text(p.program));
  if (p.failed > 0) out += fmt::format("<p class=\"alert\">{} of them failed: <a href=\"#failed\">which, and why</a>.</p>\n", p.failed);
  out += "<nav aria-label=\"sections\">\n<ul>\n";
  for (const Section& s : sections) out += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", s.id, s.title);
  out += "</ul>\n</nav>\n</header>\n<main>\n";
  for (const Section& s : sections)
    out += fmt::format("<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}</h2>\n{2}</section>\n", s.id, s.title,
                       s.content);
  return out + fmt::format("</main>\n<script>{}</script>\n</body>\n</html>\n", page::script_text);
}

bool is_html_page(std::string_view text) { return text.substr(0, 512).find(mark) != std::string_view::npos; }

}  // namespace odrpo
