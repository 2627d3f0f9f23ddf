// Makes one self-contained HTML page about a result file: the result in a sentence and a figure, tables, more figures, method, how to
// reproduce it. The page loads nothing from elsewhere.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/table/model.hpp"

namespace odrpo {

/// A figure of a page: an <svg> element that svg_problem() accepts, with its title and caption.
struct PageFigure {
  std::string title, caption, svg;
  bool many = false;  ///< it has panels side by side: on a narrow screen it scrolls, and does not shrink
};

/// The content of a page. Texts may come from an untrusted file; html_page() escapes them.
struct HtmlPage {
  std::string suite, program;                              ///< the suite's name; "odrpo-bench 0.1"
  std::string commands;                                    ///< shell commands that reproduce the results, one per line
  std::vector<std::string> remarks;                        ///< sentences below the commands
  std::vector<std::pair<std::string, std::string>> facts;  ///< (name, text): digest, version, compiler, …
  std::vector<TableModel> tables;
  std::vector<PageFigure> figures;  ///< the first one stands below the sentence with which the page opens
  std::vector<std::string> figure_notes;                       ///< sentences that say why a figure is missing
  std::vector<std::pair<std::string, std::string>> documents;  ///< (title, text), shown verbatim when the reader opens it: suite, settings
  std::size_t runs = 0, failed = 0;
  std::vector<std::pair<std::string, std::string>> failures;  ///< (id, reason) of the first runs that failed
};

/// The most bytes of HTML for all tables, figures, documents and lists of a page. The page leaves out what exceeds them, and says so.
inline constexpr std::size_t page_table_bytes = 1'000'000, page_figure_bytes = 500'000, page_document_bytes = 120'000,
                             page_list_bytes = 60'000;
inline constexpr std::size_t page_columns = 100;  ///< columns of one table, not counting comparisons

/// Renders the page as HTML5 of less than 2 MB, for light and dark displays. Its Content-Security-Policy allows only its own style sheet
/// and script, by their hashes. Failure `internal` for a figure that svg_problem() refuses.
std::string html_page(const HtmlPage& page);

/// True for a page of odrpo-bench, judged by its first 512 bytes. Without -o, `report` replaces only such a file.
bool is_html_page(std::string_view text);

/// Turns an SVG document into an <svg> element with nothing but shapes and text. Styles become attributes. Ids begin with `prefix`, so that
/// several drawings in a page do not collide. `title` becomes the aria-label. Failure `internal` if it is not SVG.
std::string inline_svg(std::string_view document, const std::string& prefix, const std::string& title, double scale);

/// Describes the first thing in an <svg> element that a page does not allow; empty if there is none. Allowed are elements and attributes of
/// shapes and text, and links to parts of the same drawing.
std::string svg_problem(std::string_view svg);

}  // namespace odrpo
