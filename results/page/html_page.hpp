// One self-contained HTML page about a result file: reproduction, tables, figures, method. It makes no request of any kind.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/table/model.hpp"

namespace odrpo {

/// A figure: an <svg> element that svg_problem() has nothing against, and what it shows.
struct PageFigure {
  std::string title, caption, svg;
};

/// What a page says. Texts may come from anybody's file: they are escaped here.
struct HtmlPage {
  std::string suite, program;                              ///< the suite's name; "odrpo-bench 0.1"
  std::string commands;                                    ///< shell commands that repeat the results, a line each
  std::vector<std::string> remarks;                        ///< below them, a sentence each
  std::vector<std::pair<std::string, std::string>> facts;  ///< (name, text): digest, version, compiler, …
  std::vector<TableModel> tables;
  std::vector<PageFigure> figures;
  std::vector<std::string> figure_notes;                       ///< why one is missing, a sentence each
  std::vector<std::pair<std::string, std::string>> documents;  ///< (title, text) shown verbatim when opened: suite, settings
  std::size_t runs = 0, failed = 0;
  std::vector<std::pair<std::string, std::string>> failures;  ///< (id, reason) of the first that failed
};

/// How much of each kind a page holds at most, in bytes of HTML. What does not fit is left out, and a sentence says so.
inline constexpr std::size_t page_table_bytes = 1'000'000, page_figure_bytes = 500'000, page_document_bytes = 120'000,
                             page_list_bytes = 60'000;
inline constexpr std::size_t page_columns = 100;  ///< columns of one table, comparisons not counted

/// The page: HTML5, below 2 MB, in light and dark, with a policy that allows its own style and script alone (by their hashes). Failure
/// internal for a figure that svg_problem() refuses.
std::string html_page(const HtmlPage& page);

/// Is this text a page of ours, judged by its first bytes? Only such a file is replaced unasked.
bool is_html_page(std::string_view text);

/// The drawing of an SVG document as an element of a page: shapes and text alone. A style becomes attributes; names of parts begin with
/// `prefix`, so that several drawings do not mix them up; `title` is for readers who do not see it. Failure internal when it is no SVG.
std::string inline_svg(std::string_view document, const std::string& prefix, const std::string& title, double scale);

/// What a figure has that a page does not take: any element or attribute (script, style, events) but those of shapes and text, and links to
/// anything but its own parts. Empty when it has none of these.
std::string svg_problem(std::string_view svg);

}  // namespace odrpo
