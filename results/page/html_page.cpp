// Writes the whole page: head with Content-Security-Policy, sections, style sheet and script.
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

/// How many characters of a fact, or of the reason why a run failed, are shown; the rest is cut.
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

/// A section of the page. Sections without content are left out.
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

/// Appends a figure. Failure `internal` if it is not harmless.
void append_figure(std::string& out, const PageFigure& figure) {
  if (const std::string problem = svg_problem(figure.svg); !problem.empty())
    throw Failure(Exit::internal, "the figure \"" + figure.title + "\" has " + problem);
  out += fmt::format(
      "<figure>\n<div class=\"scroll{3}\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\">\n{1}\n</div>\n"
      "<figcaption><strong>{0}.</strong> {2}</figcaption>\n</figure>\n",
      markup_text(figure.title), figure.svg, markup_text(cut_text(figure.caption, longest_text)), figure.many ? " many" : "");
}

/// Makes the section with which the page opens: the result in a sentence, and the first figure.
Section result(const HtmlPage& p) {
  std::string out = fmt::format("<p class=\"result\">{}</p>\n", markup_text(cut_text(page::opening_sentence(p), longest_text)));
  if (!p.figures.empty() && p.figures[0].svg.size() <= page_figure_bytes) append_figure(out, p.figures[0]);
  return {"result", "Result", out};
}

Section tables(const HtmlPage& p) {
  std::string out;
  for (const TableModel& table : p.tables) {
    if (p.tables.size() > 1 && table.values.size() == 1) out += fmt::format("<h3>{}</h3>\n", markup_text(value_text(table.values[0])));
    page::append_tables(out, table, page_table_bytes);
  }
  return {"tables", "Tables", out};
}

/// Makes the section of the figures after the first.
Section figures(const HtmlPage& p) {
  std::string out;
  std::size_t left_out = !p.figures.empty() && p.figures[0].svg.size() > page_figure_bytes, used = p.figures.empty() || left_out > 0 ? 0 : p.figures[0].svg.size();
  for (std::size_t i = 1; i < p.figures.size(); ++i) {
    if (used + out.size() + p.figures[i].svg.size() > page_figure_bytes) ++left_out;
    else append_figure(out, p.figures[i]);
  }
  if (left_out > 0)
    out += fmt::format("<p class=\"cut\">{} of {} figures are not shown: a page has at most {} kB of them.</p>\n", left_out,
                       p.figures.size(), page_figure_bytes / 1000);
  for (const std::string& note : p.figure_notes) out += fmt::format("<p class=\"note\">{}</p>\n", markup_text(cut_text(note, longest_text)));
  return {"figures", p.figures.empty() ? "Figures" : "More figures", out};
}

/// Makes the section on raters, formulas and settings of all tables, each listed once.
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

/// Makes the section of verbatim texts (HtmlPage::documents). A text that is too long is cut at a line end.
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
  std::vector<Section> sections{result(p), tables(p), figures(p), method(p), failures(p), documents(p), reproduction(p)};
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

// The style sheet and the script of a page. The script turns the headers of a table into buttons that sort its rows.

namespace odrpo::page {

constexpr std::string_view style_text = R"css(
:root{color-scheme:light dark;--ink:#1b1d20;--soft:#5b616a;--rule:#1b1d20;--hair:#c8cdd4;--paper:#fff;--code:#f3f4f6;--link:#0b57d0}
@media (prefers-color-scheme:dark){
:root{--ink:#e6e6e3;--soft:#a5abb4;--rule:#c9cac8;--hair:#3d434c;--paper:#15171a;--code:#1f2227;--link:#8ab4f8}}
*{box-sizing:border-box}
body{margin:0 auto;padding:2rem 1rem 4rem;max-width:64rem;background:var(--paper);color:var(--ink);
font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;overflow-wrap:anywhere}
h1{margin:0;font-size:1.9rem;line-height:1.2}
h2{margin:2.5rem 0 .75rem;font-size:1.3rem;line-height:1.3}
h3{margin:1.75rem 0 .5rem;font-size:1.05rem}
p{margin:.5rem 0}
a{color:var(--link)}
.lead,.note,.cut,figcaption{color:var(--soft)}
.result{font-size:1.15rem;font-weight:600}
.alert{border-left:.25rem solid #c0392b;padding-left:.75rem}
nav ul{list-style:none;margin:1rem 0 0;padding:0;display:flex;flex-wrap:wrap;gap:.25rem 1.25rem}
pre,code{font:.875rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace}
pre{margin:.5rem 0;padding:.75rem 1rem;background:var(--code);border-radius:.375rem;overflow-x:auto;overflow-wrap:normal}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1.25rem;margin:1rem 0;font-size:.925rem}
dt{color:var(--soft)}
dd{margin:0;min-width:0}
section>ul{margin:.75rem 0;padding-left:1.25rem;font-size:.925rem;color:var(--soft)}
summary{cursor:pointer}
.scroll{overflow-x:auto;margin:1rem 0;overflow-wrap:normal;
background:linear-gradient(90deg,var(--paper) 40%,transparent) left,linear-gradient(270deg,var(--paper) 40%,transparent) right,
linear-gradient(90deg,var(--hair),transparent) left,linear-gradient(270deg,var(--hair),transparent) right;background-repeat:no-repeat;
background-size:2.5rem 100%,2.5rem 100%,.9rem 100%,.9rem 100%;background-attachment:local,local,scroll,scroll}
table{border-collapse:collapse;font-size:.925rem;font-variant-numeric:tabular-nums;border-top:.125rem solid var(--rule);
border-bottom:.125rem solid var(--rule)}
caption{padding:0 0 .4rem;text-align:left;font-weight:600;overflow-wrap:anywhere}
th,td{padding:.2rem .65rem;text-align:right;white-space:nowrap;vertical-align:baseline}
thead th{font-weight:600;vertical-align:bottom}
thead tr:last-child th,th[data-column="0"]{border-bottom:.0625rem solid var(--rule)}
thead th.span{text-align:center;border-bottom:.0625rem solid var(--hair)}
tbody th,th[data-column="0"]{padding-left:0;text-align:left}
tr>:last-child{padding-right:0}
tbody th{font-weight:400}
tbody th.long{min-width:14rem;max-width:24rem;white-space:normal;overflow-wrap:anywhere}
tr.group>*{border-top:.0625rem solid var(--hair)}
table.sorted tr.group>*{border-top:0}
tbody tr:hover>*{background:var(--code)}
td span{color:var(--soft)}
td em{display:inline-block;width:.7em;text-align:left;font-style:normal;font-weight:700;color:var(--ink)}
th button{padding:0;border:0;background:none;color:inherit;font:inherit;text-align:inherit;cursor:pointer}
th button::after{content:"\2195";display:inline-block;width:1em;text-align:right;color:var(--soft);opacity:.55}
th[aria-sort=ascending] button::after{content:"\2191";color:inherit;opacity:1}
th[aria-sort=descending] button::after{content:"\2193";color:inherit;opacity:1}
:focus-visible{outline:.125rem solid var(--link);outline-offset:.125rem}
figure{margin:1.25rem 0}
figure .many svg{min-width:32rem}
figure svg{display:block;width:auto;max-width:100%;height:auto;padding:.5rem;background:#fff;border-radius:.375rem}
@media (max-width:40rem){body{padding-top:1rem}dl{column-gap:.75rem}tbody th.long{min-width:8rem}table{font-size:.8rem}th,td{padding:.2rem .3rem}
td,tbody th{white-space:normal}td span{white-space:nowrap}tbody th{min-width:6.6rem;overflow-wrap:anywhere}th[aria-sort=none] button::after{display:none}}
@media screen and (max-width:40rem){.stacked thead{display:none}.stacked :is(table,caption,tbody,tr,th){display:block}
.stacked tbody th{padding-top:.6rem;font-weight:600}.stacked td{display:flex;gap:.3rem;padding:.1rem 0}
.stacked td::before{content:attr(data-label);margin-right:auto;color:var(--soft)}}
@media (min-width:40rem){th[data-column="0"],tbody th{position:sticky;left:0;background:var(--paper)}}
@page across{size:landscape}
@media print{body{max-width:none;padding:0;font-size:.8rem}nav,th button::after{display:none}.scroll{overflow:visible}
table{font-size:.7rem}th,td{white-space:normal}td span{white-space:nowrap}td em{display:inline}.wide{page:across}.wide table{font-size:.55rem}
.wide th,.wide td{padding:.1rem .2rem}pre{white-space:pre-wrap}h2,h3,caption{break-after:avoid}tr,figure{break-inside:avoid}}
)css";

constexpr std::string_view script_text = R"js(
"use strict";
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0], rows = Array.from(body.rows), heads = Array.from(table.querySelectorAll("th[data-column]"));
  if (rows.length < 2) continue;
  for (const head of heads) {
    const column = Number(head.dataset.column), button = document.createElement("button");
    const cell = (row) => row.cells[column];
    const numeric = rows.every((row) => cell(row).dataset.value !== undefined);
    const key = (row) => {
      if (!numeric) return cell(row).textContent;
      const text = cell(row).dataset.value;
      return text === "" ? null : Number(text.replace("inf", "Infinity"));
    };
    button.type = "button";
    button.append(...Array.from(head.childNodes));
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const next = { none: "ascending", ascending: "descending", descending: "none" }[head.getAttribute("aria-sort")];
      for (const other of heads) other.setAttribute("aria-sort", other === head ? next : "none");
      table.classList.toggle("sorted", next !== "none");
      const sign = next === "descending" ? -1 : 1;
      const order = rows.map((row, place) => ({ row, place, key: key(row) }));
      if (next !== "none") {
        order.sort((a, b) => {
          if (a.key === null || b.key === null) return (a.key === null) - (b.key === null) || a.place - b.place;
          return sign * (numeric ? a.key - b.key || 0 : a.key.localeCompare(b.key, "en", { numeric: true })) || a.place - b.place;
        });
      }
      for (const { row } of order) body.append(row);
    });
  }
}
)js";

}  // namespace odrpo::page
